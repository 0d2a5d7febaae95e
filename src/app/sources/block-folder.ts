import { existingHome } from '#embedded-postgres/server-place.ts';
import type { BlockSource } from '#kernel/contracts/block-source.ts';
import type { CommandContext } from '#src/app/command-context.ts';
import { hasEmbeddedDatabase } from '#src/config.ts';

/**
 * Opens a folder of blocks for the life of the process. Where no database exists yet, its first block is read: a
 * folder that lacks it is refused before a database is made. Throws like `openFolderSource`, and like its `read`.
 */
export async function openBlocks(
  { config, lifecycle }: CommandContext,
  dir: string,
  tip: string | undefined,
): Promise<BlockSource> {
  // a node's blocks need none of it
  const { openFolderSource } = await import('#indexer/source/folder-source.ts');
  const source = await openFolderSource(dir, tip === undefined ? {} : { tip });
  lifecycle.add('block source', () => source.close());
  const isNew = hasEmbeddedDatabase(config) && (await existingHome(config.dataDir)) === null;
  const [first] = isNew ? await source.refs() : [];
  if (first !== undefined) await source.read(first);
  return source;
}
