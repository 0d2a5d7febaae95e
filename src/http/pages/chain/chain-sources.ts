import type { FeeEstimates } from '#http/mempool/recommended-fees.ts';
import type { Outputs } from '#http/ord/outputs/outputs.ts';
import type { NodeCalls } from '#http/ord/sources/node-calls.ts';
import type { RawBlocks } from '#http/ord/sources/raw-blocks.ts';
import type { Transactions } from '#http/ord/transactions/transactions.ts';
import type { AppDependencies } from '#http/server/routes/app-dependencies.ts';
import { AppError } from '#kernel/errors/app-error.ts';

/** Sources of pages about transactions and outputs. */
export interface ChainSources {
  readonly deps: AppDependencies;
  readonly node: NodeCalls | null;
  readonly rawBlocks: RawBlocks;
  readonly transactions: Transactions;
  readonly outputs: Outputs;
  /** `null` if there is no node. */
  readonly estimates: FeeEstimates | null;
}

/** Maximum number of rows in each list of a page. Each output takes one or two lookups. */
export const rowsMax = 100;

/**
 * Error codes for data that is not available from blocks or from the node, now or ever. Pages show all other data, and
 * the reason.
 */
const untold: ReadonlySet<string> = new Set([
  'no_node',
  'not_found',
  'node_unreachable',
  'node_refused',
  'node_answer_invalid',
  'node_call_failed',
  'block_unavailable',
  'block_corrupt',
  'spent_outputs_mismatch',
]);

/** The answer, or the error that says why the answer is missing. Throws all other errors. */
export async function toldOrWhy<Told>(ask: Promise<Told>): Promise<{ told: Told } | { why: AppError }> {
  try {
    return { told: await ask };
  } catch (error) {
    if (error instanceof AppError && untold.has(error.code)) return { why: error };
    throw error;
  }
}

/** The answer. `null` if neither the blocks nor the node have the data. */
export async function toldOrNull<Told>(ask: Promise<Told>): Promise<Told | null> {
  const answer = await toldOrWhy(ask);
  return 'told' in answer ? answer.told : null;
}
