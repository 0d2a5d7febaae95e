import { AppError } from '#kernel/errors/app-error.ts';

const codes: ReadonlySet<string> = new Set(['block_unavailable', 'node_pruned']);

/**
 * Whether an error means that the node lacks a block or its spent outputs, because it was pruned, or never connected
 * the block.
 */
export function isUnreadable(error: unknown): error is AppError {
  if (!(error instanceof AppError)) return false;
  // getblock leaves out `prevout` if the node has no undo data of the block
  const lacksSpends = error.code === 'node_answer_invalid' && error.details['field'] === 'prevout';
  return lacksSpends || codes.has(error.code);
}
