import type pg from 'pg';
import type { Snapshot, Tip } from '#kernel/contracts/search-engine.ts';
import { withCutConnection } from '#kernel/pg/cut-connection.ts';
import type { BlockHash } from '#kernel/primitives/hash.ts';
import type { Height } from '#kernel/primitives/height.ts';

interface TipRow {
  tip_height: Height | null;
  tip_hash: BlockHash | null;
  undo_epoch: number;
}

const begin = 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY';
// the first statement that reads decides the moment of the snapshot, so it must read the tip
const readTip = 'SELECT tip_height, tip_hash, undo_epoch FROM chain.state';
const withOpening = (opening: string): string =>
  `SELECT tip_height, tip_hash, undo_epoch, opening.* FROM chain.state LEFT JOIN (${opening}) AS opening ON true`;

/** Names of the statements that each connection has prepared, by the text of the statement. */
const preparedBy = new WeakMap<pg.PoolClient, Map<string, string>>();

/**
 * Opens a snapshot in one round trip. The statement that reads the first row is prepared once per connection, because
 * every response begins with it, and planning took half of its time. SQL PREPARE is used, because `pg` cannot name a
 * statement in a query of several statements.
 */
function openSnapshot(client: pg.PoolClient, opening: string | undefined): string {
  const text = opening === undefined ? readTip : withOpening(opening);
  const prepared = preparedBy.get(client) ?? new Map<string, string>();
  preparedBy.set(client, prepared);
  const name = prepared.get(text);
  if (name !== undefined) return `${begin}; EXECUTE ${name}`;
  const first = `satscribe_snapshot_${prepared.size}`;
  prepared.set(text, first);
  return `${begin}; PREPARE ${first} AS ${text}; EXECUTE ${first}`;
}

/**
 * Runs `fn` in a snapshot of the database and passes the tip at that moment, so that the rows, totals and height of a
 * response belong together. The connection is released when `fn` is done. If the signal is aborted before the snapshot
 * begins, nothing is read. If it is aborted while `fn` runs, the connection is cut and the server cancels its
 * statement.
 *
 * @param signal aborted when the client disconnects; `null` if no client waits for the result
 * @param opening a statement whose first row becomes `snapshot.opening`; it needs no additional round trip
 */
export async function withSnapshot<T>(
  pool: pg.Pool,
  fn: (snapshot: Snapshot) => Promise<T>,
  signal: AbortSignal | null,
  opening?: string,
): Promise<T> {
  return withCutConnection(pool, signal, async (client, discard) => {
    const row = await firstRow(client, opening).catch((error: unknown) => {
      // after this error it is unknown whether the statement is prepared, so the connection is not used again
      discard();
      throw error;
    });
    try {
      const value = await fn({
        client,
        tip: tipOf(row),
        ...(opening === undefined || row === undefined ? {} : { opening: row }),
        ...(signal === null ? {} : { signal }),
      });
      await client.query('COMMIT');
      return value;
    } catch (error) {
      await client.query('ROLLBACK').catch(discard);
      throw error;
    }
  });
}

async function firstRow(client: pg.PoolClient, opening: string | undefined): Promise<TipRow | undefined> {
  // a query of several statements returns several results, but the types of `pg` do not say so
  const results = (await client.query(openSnapshot(client, opening))) as unknown as pg.QueryResult<TipRow>[];
  return results.at(-1)?.rows[0];
}

function tipOf(row: TipRow | undefined): Tip | null {
  if (row === undefined || row.tip_height === null || row.tip_hash === null) return null;
  return { height: row.tip_height, hash: row.tip_hash, undoEpoch: row.undo_epoch };
}
