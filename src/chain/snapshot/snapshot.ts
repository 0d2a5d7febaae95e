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

// one round trip for both: the first statement that reads fixes the moment, and it reads the tip
const openSnapshot =
  'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SELECT tip_height, tip_hash, undo_epoch FROM chain.state';

/**
 * Runs `fn` in one moment of the database and passes the tip of that moment, so that rows, totals and height of an
 * answer belong together. The connection is released when `fn` is done. If the signal is aborted before it has begun,
 * nothing is read; if it is aborted meanwhile and `fn` goes on, the connection is cut and the server ends its
 * statement.
 *
 * @param signal of who asks; null: nobody who could leave
 * @param opening a statement whose first row becomes `snapshot.opening`, without a round trip of its own
 */
export async function withSnapshot<T>(
  pool: pg.Pool,
  fn: (snapshot: Snapshot) => Promise<T>,
  signal: AbortSignal | null,
  opening?: string,
): Promise<T> {
  return withCutConnection(pool, signal, async (client, discard) => {
    try {
      const text = opening === undefined ? openSnapshot : `${openSnapshot}; ${opening}`;
      // several statements in one query give several results; the types of `pg` do not know that
      const [, tips, first] = (await client.query(text)) as unknown as [
        pg.QueryResult,
        pg.QueryResult<TipRow>,
        pg.QueryResult?,
      ];
      const value = await fn({
        client,
        tip: tipOf(tips.rows[0]),
        ...(first === undefined ? {} : { opening: first.rows[0] as unknown }),
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

function tipOf(row: TipRow | undefined): Tip | null {
  if (row === undefined || row.tip_height === null || row.tip_hash === null) return null;
  return { height: row.tip_height, hash: row.tip_hash, undoEpoch: row.undo_epoch };
}
