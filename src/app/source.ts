import { readFollowerReport } from '#chain/blocks/follower-status.queries.ts';
import type { BlockSource } from '#kernel/contracts/block-source.ts';
import type { LiveBlockSource } from '#kernel/contracts/live-source.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { type SettingName, settings } from '#src/config.ts';
import { openBlocks } from './blocks.ts';
import type { CommandContext } from './command-context.ts';
import { type Database, networkOf } from './database.ts';
import { linkNode } from './node.ts';

export interface SourceWanted {
  /** The chain of the folder that ends with this block. */
  readonly tip: string | undefined;
  /** What is done where the node is away: wait for it, or throw `node_unreachable`. One that is starting is waited for. */
  readonly away: 'wait' | 'throw';
}

/** Where the settings say that blocks come from: their folder, or else their node. */
export async function openSource(
  context: CommandContext,
  database: Database,
  { tip, away }: SourceWanted,
): Promise<BlockSource | LiveBlockSource> {
  const { blocksDir } = context.config;
  if (blocksDir !== undefined) return openBlocks(context, blocksDir, tip);
  if (away === 'throw') await refuseUnnamedFolder(context, database);
  const network = await networkOf(database);
  const missed = Promise.withResolvers<never>();
  const onProblem = (problem: AppError | null): void => {
    if (away === 'throw' && problem !== null && problem.code !== 'node_warming_up') missed.reject(problem);
  };
  const { connected } = linkNode(context, { network, onProblem });
  return (await Promise.race([connected, missed.promise])).source;
}

/** Where no source is named, and what is indexed came from a folder, no node is to blame. */
async function refuseUnnamedFolder({ config }: CommandContext, { readers }: Database): Promise<void> {
  const isNodeNamed =
    config.bitcoinRpcUrl !== defaultOf('bitcoinRpcUrl') ||
    config.bitcoinCookieFile !== undefined ||
    config.bitcoinRpcUser !== undefined;
  if (isNodeNamed) return;
  const { status } = await readFollowerReport(readers);
  const [, folder] = /^folder (.*)$/u.exec(status?.source ?? '') ?? [];
  if (folder === undefined) return;
  const message = `What is indexed came from the folder ${folder}: name it with --blocks ${folder}, or a node with --node.`;
  throw new AppError('config_invalid', message, { folder });
}

function defaultOf(name: SettingName): string | null {
  return settings.find((setting) => setting.name === name)?.default ?? null;
}
