import type { ClientBase } from 'pg';
import type { Tip } from '#kernel/contracts/search-engine.ts';
import type { BlockHash } from '#kernel/primitives/hash.ts';
import type { Height } from '#kernel/primitives/height.ts';

/** The moment that a response is based on. The entity tag of the response contains both fields. */
export interface Moment {
  readonly tip: Tip | null;
  /** Revision of the mempool. `null` if it was not requested, or if no mempool is followed. */
  readonly revision: number | null;
}

/** Reads the current moment in one statement. */
export async function currentMoment(client: ClientBase, withMempool: boolean): Promise<Moment> {
  const { rows } = await client.query<{
    height: Height | null;
    hash: BlockHash | null;
    undo_epoch: number;
    revision: number | null;
  }>({
    name: 'current_moment',
    text: `SELECT tip_height AS height, tip_hash AS hash, undo_epoch,
            CASE WHEN $1 THEN (SELECT revision FROM chain.pending_state) END AS revision
       FROM chain.state`,
    values: [withMempool],
  });
  const [row] = rows;
  if (row === undefined) return { tip: null, revision: null };
  const { height, hash, undo_epoch: undoEpoch, revision } = row;
  return { tip: height === null || hash === null ? null : { height, hash, undoEpoch }, revision };
}
