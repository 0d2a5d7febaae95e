import { AppError } from '#kernel/errors/app-error.ts';

const codes: ReadonlySet<string> = new Set(['block_unavailable', 'node_pruned']);

/** Whether a block, or its spent outputs, are missing: the node was pruned, or never connected the block. */
export function isUnreadable(error: unknown): error is AppError {
  if (!(error instanceof AppError)) return false;
  // getblock leaves it out if it has no undo data
  const lacksSpends = error.code === 'node_answer_invalid' && error.details['field'] === 'prevout';
  return lacksSpends || codes.has(error.code);
}
