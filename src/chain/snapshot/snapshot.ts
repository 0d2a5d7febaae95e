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
// the first statement that reads fixes the moment, so it must read the tip
const readTip = 'SELECT tip_height, tip_hash, undo_epoch FROM chain.state';
const withOpening = (opening: string): string =>
  `SELECT tip_height, tip_hash, undo_epoch, opening.* FROM chain.state LEFT JOIN (${opening}) AS opening ON true`;

/** The statements that a connection has prepared, by their text. */
const preparedBy = new WeakMap<pg.PoolClient, Map<string, string>>();

/**
 * Opens a snapshot in one round trip. The statement that reads the first row is prepared once per connection, because
 * each answer begins with this statement, and planning took half of its time. `pg` cannot name several statements in
 * one query.
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
 * Runs `fn` in one moment of the database and passes the tip of that moment, so that rows, totals and height of an
 * answer belong together. The connection is released when `fn` is done. If the signal is aborted before it has begun,
 * nothing is read. If it is aborted while `fn` runs, the connection is cut and the server ends its statement.
 *
 * @param signal signal of the client; null: no client could leave
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
      // it is unknown now whether the statement is prepared
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
  // several statements in one query give several results; the types of `pg` do not know that
  const results = (await client.query(openSnapshot(client, opening))) as unknown as pg.QueryResult<TipRow>[];
  return results.at(-1)?.rows[0];
}

function tipOf(row: TipRow | undefined): Tip | null {
  if (row === undefined || row.tip_height === null || row.tip_hash === null) return null;
  return { height: row.tip_height, hash: row.tip_hash, undoEpoch: row.undo_epoch };
}
