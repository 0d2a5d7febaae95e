import type { MempoolState } from '#chain/pending/pending.queries.ts';
import type { NodeRpc } from '#kernel/contracts/node.ts';
import { AppError } from '#kernel/errors/app-error.ts';

/**
 * Why there are no pending transactions to answer from. Without a node, here or in another process, that stays so:
 * `no_node`, as for all answers that need one. Otherwise they may come at any moment: `mempool_not_followed`.
 *
 * @param otherwise what the client can do without them
 */
export function whyNotFollowed(
  state: MempoolState | null,
  node: NodeRpc | null | undefined,
  otherwise = '',
): AppError {
  if (state === null && node == null)
    return new AppError('no_node', `the mempool is that of a node, and there is none${otherwise}`);
  const why = state?.problem ?? (state === null ? 'it was not read yet' : `its follower is ${state.state}`);
  return new AppError('mempool_not_followed', `the mempool is not followed: ${why}${otherwise}`);
}
