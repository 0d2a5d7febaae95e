import type { BlockSource } from '#kernel/contracts/block-source.ts';
import type { LiveBlockSource } from '#kernel/contracts/live-source.ts';
import type { CommandContext } from '#src/commands/command.ts';
import { openBlocks } from './blocks.ts';
import { type Database, networkOf } from './database.ts';
import { linkNode } from './node.ts';

/** Where the settings say that blocks come from: their folder, or else their node, which is waited for. */
export async function openSource(
  context: CommandContext,
  database: Database,
  tip: string | undefined,
): Promise<BlockSource | LiveBlockSource> {
  const { blocksDir } = context.config;
  if (blocksDir !== undefined) return openBlocks(context, blocksDir, tip);
  const { connected } = linkNode(context, { network: await networkOf(database) });
  return (await connected).source;
}
