import type { MempoolState } from '#chain/pending/pending.queries.ts';
import type { NodeRpc } from '#kernel/contracts/node.ts';
import { AppError } from '#kernel/errors/app-error.ts';

/**
 * The error for missing pending transactions. If no process has a node, pending transactions stay missing, so the error
 * is `no_node`, as for all answers that need a node. Otherwise they may arrive at any moment, so the error is
 * `mempool_not_followed`.
 *
 * @param otherwise what the client can do without pending transactions
 */
export function whyNotFollowed(
  state: MempoolState | null,
  node: NodeRpc | null | undefined,
  otherwise = '',
): AppError {
  if (state === null && node == null)
    return new AppError(
      'no_node',
      `pending transactions come from the mempool of a node, but this service has no node${otherwise}`,
    );
  const why =
    state?.problem ??
    (state === null ? 'it has not been read yet' : `the state of its follower is ${state.state}`);
  return new AppError('mempool_not_followed', `the mempool is not followed: ${why}${otherwise}`);
}
