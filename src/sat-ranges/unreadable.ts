import { AppError } from '#kernel/errors/app-error.ts';

const codes: ReadonlySet<string> = new Set(['block_unavailable', 'node_pruned']);

/**
 * Whether an error means that the node lacks a block or the block's spent outputs. The node may have pruned the block,
 * or may never have connected it.
 */
export function isUnreadable(error: unknown): error is AppError {
  if (!(error instanceof AppError)) return false;
  // getblock omits `prevout` if the node has no undo data for the block
  const lacksSpends = error.code === 'node_answer_invalid' && error.details['field'] === 'prevout';
  return lacksSpends || codes.has(error.code);
}
