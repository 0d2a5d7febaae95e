import type { ClientBase } from 'pg';
import type { Tip } from '#kernel/contracts/search-engine.ts';
import type { BlockHash } from '#kernel/primitives/hash.ts';
import type { Height } from '#kernel/primitives/height.ts';

export interface IndexState {
  readonly tip: Tip | null;
  /** True if every derived table covers every block. Responses then change only with the tip. */
  readonly isComplete: boolean;
}

/** Reads the tip, and whether all derived tables have reached it, in one statement. */
export async function readIndexState(client: ClientBase): Promise<IndexState> {
  const { rows } = await client.query<{
    height: Height | null;
    hash: BlockHash | null;
    undo_epoch: number;
    is_complete: boolean;
  }>({
    // prepared once per connection, because planning takes longer than the query itself
    name: 'index_state',
    text: `SELECT tip_height AS height, tip_hash AS hash, undo_epoch,
             NOT EXISTS (SELECT FROM chain.derived_tables WHERE NOT is_followed OR is_remade) AS is_complete
           FROM chain.state`,
  });
  const [row] = rows;
  if (row === undefined) return { tip: null, isComplete: false };
  const { height, hash, undo_epoch: undoEpoch, is_complete: isComplete } = row;
  return { tip: height === null || hash === null ? null : { height, hash, undoEpoch }, isComplete };
}
