import { readFollowerReport } from '#chain/blocks/follower-status.queries.ts';
import { hasEmbeddedDatabase, type SettingName, settings } from '#config/config.ts';
import { existingHome } from '#embedded-postgres/server-place.ts';
import type { BlockSource } from '#kernel/contracts/block-source.ts';
import type { LiveBlockSource } from '#kernel/contracts/live-source.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import type { BitcoinNode } from '#node/bitcoin-node.ts';
import type { CommandContext } from '#src/app/command-context.ts';
import { type Database, networkOf } from '#src/app/database/database.ts';
import { linkNode } from './node.ts';

export interface SourceWanted {
  /** Hash of a block. The chain of the folder that ends with this block is indexed. */
  readonly tip: string | undefined;
  /**
   * Reaction while the node is unreachable: wait, or throw `node_unreachable`. A node that is starting is always
   * waited for.
   */
  readonly away: 'wait' | 'throw';
}

export interface OpenedSource {
  readonly source: BlockSource | LiveBlockSource;
  /** `null` if the source is a folder of blocks. */
  readonly node: BitcoinNode | null;
}

/** Opens the source of the settings: the folder of blocks if one is set, otherwise the node. */
export async function openSource(
  context: CommandContext,
  database: Database,
  { tip, away }: SourceWanted,
): Promise<OpenedSource> {
  const { blocksDir } = context.config;
  if (blocksDir !== undefined) return { source: await openBlocks(context, blocksDir, tip), node: null };
  if (away === 'throw') await refuseUnnamedFolder(context, database);
  const network = await networkOf(database);
  const missed = Promise.withResolvers<never>();
  const onProblem = (problem: AppError | null): void => {
    if (away === 'throw' && problem !== null && problem.code !== 'node_warming_up') missed.reject(problem);
  };
  const { connected } = linkNode(context, { network, onProblem });
  return Promise.race([connected, missed.promise]);
}

/**
 * Throws if the index came from a folder and the settings name no source, so that the error does not blame the node.
 */
async function refuseUnnamedFolder({ config }: CommandContext, { readers }: Database): Promise<void> {
  const isNodeNamed =
    config.bitcoinRpcUrl !== defaultOf('bitcoinRpcUrl') ||
    config.bitcoinCookieFile !== undefined ||
    config.bitcoinRpcUser !== undefined;
  if (isNodeNamed) return;
  const { status } = await readFollowerReport(readers);
  const [, folder] = /^folder (.*)$/u.exec(status?.source ?? '') ?? [];
  if (folder === undefined) return;
  const message = `The index was made from a folder of blocks with the name ${folder}. Name this folder with --blocks DIR, or a node with --node.`;
  throw new AppError('config_invalid', message, { folder });
}

function defaultOf(name: SettingName): string | null {
  return settings.find((setting) => setting.name === name)?.default ?? null;
}

/**
 * Opens a folder of blocks for the life of the process. If there is no database yet, the first block is read, so that a
 * folder without this block is refused before a database is created. Throws the errors of `openFolderSource` and of its
 * `read`.
 */
export async function openBlocks(
  { config, lifecycle }: CommandContext,
  dir: string,
  tip: string | undefined,
): Promise<BlockSource> {
  // load it here, because a process that uses a node does not need it
  const { openFolderSource } = await import('#indexer/source/folder-source.ts');
  const source = await openFolderSource(dir, tip === undefined ? {} : { tip });
  lifecycle.add('block source', () => source.close());
  const isNew = hasEmbeddedDatabase(config) && (await existingHome(config.dataDir)) === null;
  const [first] = isNew ? await source.refs() : [];
  if (first !== undefined) await source.read(first);
  return source;
}
