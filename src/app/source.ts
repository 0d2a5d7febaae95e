import type { BlockSource } from '#kernel/contracts/block-source.ts';
import type { LiveBlockSource } from '#kernel/contracts/live-source.ts';
import type { AppError } from '#kernel/errors/app-error.ts';
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
  const network = await networkOf(database);
  const missed = Promise.withResolvers<never>();
  const onProblem = (problem: AppError | null): void => {
    if (away === 'throw' && problem !== null && problem.code !== 'node_warming_up') missed.reject(problem);
  };
  const { connected } = linkNode(context, { network, onProblem });
  return (await Promise.race([connected, missed.promise])).source;
}
