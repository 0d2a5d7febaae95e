import type pg from 'pg';
import type { Txid } from '#kernel/primitives/hash.ts';
import { asHeight, type Height } from '#kernel/primitives/height.ts';

/** Channel for notifications of new or ended watches. The process that follows payments listens to this channel. */
export const watchesChannel = 'satscribe_watched_scripts';

export interface Watch {
  /** An output script of 1 to 520 bytes. */
  readonly script: Uint8Array;
  /** First block height in which payments are found. A height above the next block means the next block. */
  readonly sinceHeight: Height;
}

/** A height above every block, for watches that begin with the next block. */
export const nextBlock = asHeight(0x7fff_ffff);

/** Maximum number of scripts per query. A full query needs a few megabytes and some milliseconds. */
const readAtOnce = 10_000;

/**
 * Watches scripts for `watcher`, as part of the current transaction. The transaction must commit before anyone gets the
 * payment address. A script may have several watchers. If the same watcher watches a script again with a lower start
 * height, the blocks from the lower height on are scanned for this script.
 */
export async function watchScripts(
  tx: pg.ClientBase,
  watcher: string,
  watches: readonly Watch[],
): Promise<void> {
  await tx.query({
    // the query is prepared once on each connection, because planning takes longer than the rest of the query
    name: 'watch scripts',
    text: `WITH watched AS (
      INSERT INTO service.watched_scripts AS w (script, watcher, since_height)
      SELECT g.script, $1, least(min(g.since), (SELECT height + 1 FROM service.payments_offset))
        FROM unnest($2::bytea[], $3::integer[]) AS g (script, since) GROUP BY g.script
          ON CONFLICT (script, watcher) DO UPDATE SET since_height = excluded.since_height, picked_up = false
       WHERE excluded.since_height < w.since_height
    ) SELECT pg_notify('${watchesChannel}', '')`,
    values: [watcher, watches.map(({ script }) => script), watches.map(({ sinceHeight }) => sinceHeight)],
  });
}

/**
 * Ends watches of `watcher` (READ COMMITTED). Payments that have no other watcher are deleted, too.
 *
 * @param scripts scripts whose watches end. Absent: all scripts of the watcher.
 */
export async function unwatchScripts(
  tx: pg.ClientBase,
  watcher: string,
  scripts?: readonly Uint8Array[],
): Promise<void> {
  // lock all watches of these scripts; otherwise two watchers that end at the same time would each see the watch of the
  // other, and no one would delete the payments
  const { rows } = await tx.query<{ script: Buffer }>(
    `SELECT script FROM service.watched_scripts
      WHERE script IN (SELECT script FROM service.watched_scripts
                        WHERE watcher = $1 AND ($2::bytea[] IS NULL OR script = ANY($2)))
      ORDER BY script, watcher FOR UPDATE`,
    [watcher, scripts ?? null],
  );
  const locked = rows.map(({ script }) => script);
  await tx.query('DELETE FROM service.watched_scripts WHERE watcher = $1 AND script = ANY($2)', [
    watcher,
    locked,
  ]);
  await tx.query(
    `WITH forgotten AS (
       DELETE FROM service.payments_seen AS p
        WHERE p.script = ANY($1) AND NOT EXISTS (
          SELECT FROM service.watched_scripts AS w
           WHERE w.script = p.script AND (p.height IS NULL OR w.since_height <= p.height))
       RETURNING p.txid, p.vout)
     DELETE FROM service.payment_inputs AS i USING forgotten AS f
      WHERE i.txid = f.txid AND NOT EXISTS (
        SELECT FROM service.payments_seen AS p
         WHERE p.txid = i.txid AND (p.txid, p.vout) NOT IN (SELECT txid, vout FROM forgotten))`,
    [locked],
  );
  await tx.query(`SELECT pg_notify('${watchesChannel}', 'less')`);
}

/**
 * Payload of the notification that a payment was just sent to the node. After this notification, the next round reads
 * the mempool, even if the node is polled.
 */
export const hurry = 'hurry';

/** Notifies the process that follows payments that a payment was just sent. */
export async function hurryPayments(client: pg.Pool | pg.ClientBase): Promise<void> {
  await client.query(`SELECT pg_notify('${watchesChannel}', $1)`, [hurry]);
}

/** Calls `onScript` once for each watched script. */
export async function readWatchedScripts(
  client: pg.ClientBase,
  onScript: (script: Uint8Array) => void,
): Promise<void> {
  for (let after: Uint8Array = Buffer.alloc(0); ; ) {
    const { rows } = await client.query<{ script: Buffer }>(
      'SELECT DISTINCT script FROM service.watched_scripts WHERE script > $1 ORDER BY script LIMIT $2',
      [after, readAtOnce],
    );
    for (const { script } of rows) onScript(script);
    const last = rows.at(-1);
    if (last === undefined) return;
    after = last.script;
  }
}

/**
 * Takes up to 10,000 new watches for the process that follows payments, and returns their scripts. For watches that
 * begin at or below the offset, old blocks will be scanned.
 */
export async function pickUpWatches(tx: pg.ClientBase, offsetHeight: Height): Promise<Buffer[]> {
  const { rows } = await tx.query<{ script: Buffer }>(
    `WITH fresh AS (SELECT script, watcher FROM service.watched_scripts WHERE NOT picked_up
                     LIMIT $2 FOR UPDATE SKIP LOCKED)
     UPDATE service.watched_scripts AS w SET picked_up = true, since_height = least(w.since_height, $1 + 1),
            next_height = CASE WHEN w.since_height <= $1 THEN least(w.next_height, w.since_height) END
       FROM fresh AS f WHERE w.script = f.script AND w.watcher = f.watcher
     RETURNING w.script`,
    [offsetHeight, readAtOnce],
  );
  return rows.map(({ script }) => script);
}

/** The lowest height above `above` that must still be scanned. Returns null if no height is left. */
export async function nextToScan(client: pg.ClientBase, above: Height | -1): Promise<Height | null> {
  const { rows } = await client.query<{ height: Height | null }>(
    'SELECT min(next_height) AS height FROM service.watched_scripts WHERE picked_up AND next_height > $1',
    [above],
  );
  return rows[0]?.height ?? null;
}

/**
 * Number of watches that still need scans of old blocks, also of those that are not picked up yet.
 *
 * @param watchers only watches of these watchers. Absent: all watches
 */
export async function countUnscanned(
  client: pg.Pool | pg.ClientBase,
  watchers: readonly string[] | null = null,
): Promise<number> {
  const { rows } = await client.query<{ count: number }>(
    `SELECT (SELECT count(*) FROM service.watched_scripts
              WHERE next_height IS NOT NULL AND ($1::text[] IS NULL OR watcher = ANY($1)))
          + (SELECT count(*) FROM service.watched_scripts
              WHERE NOT picked_up AND next_height IS NULL AND ($1::text[] IS NULL OR watcher = ANY($1))
                AND since_height <= (SELECT height FROM service.payments_offset)) AS count`,
    [watchers],
  );
  return rows[0]?.count ?? 0;
}

/**
 * Stores that the blocks from `from` up to, but not including, `height` were scanned. If `height` is above
 * `offsetHeight`, these watches need no more old blocks. Watches whose next block is below `from` do not change,
 * because they wait for a missing block.
 */
export async function scanned(
  tx: pg.ClientBase,
  from: Height,
  height: Height,
  offsetHeight: Height,
): Promise<void> {
  await tx.query(
    `UPDATE service.watched_scripts SET next_height = CASE WHEN $2 > $3 THEN NULL ELSE $2 END
      WHERE picked_up AND next_height >= $1 AND next_height < $2`,
    [from, height, offsetHeight],
  );
}

/**
 * Lowers the next height of watches after a reorganisation, because payments may now be in lower blocks than before.
 * The blocks up to `height` are unchanged.
 */
export async function lowerWatches(tx: pg.ClientBase, height: Height): Promise<void> {
  await tx.query(
    `UPDATE service.watched_scripts SET since_height = least(since_height, $1 + 1),
            next_height = CASE WHEN next_height <= $1 THEN next_height END
      WHERE since_height > $1 + 1 OR next_height > $1`,
    [height],
  );
}

/**
 * Lowers the start height of watches if a known payment is now in a block below this height. Only deep reorganisations
 * cause this. The scripts are then watched from the payment's block on, and the blocks from this block on are scanned
 * again.
 */
export async function lowerWatchesOfSeen(
  tx: pg.ClientBase,
  payments: readonly { readonly txid: Txid; readonly vout: number }[],
  height: Height,
): Promise<void> {
  await tx.query(
    `UPDATE service.watched_scripts AS w SET since_height = $3, next_height = least(w.next_height, $3)
       FROM unnest($1::bytea[], $2::integer[]) AS s (txid, vout)
       JOIN service.payments_seen AS p ON p.txid = s.txid AND p.vout = s.vout AND p.height IS NULL
      WHERE w.script = p.script AND w.since_height > $3`,
    [payments.map(({ txid }) => txid), payments.map(({ vout }) => vout), height],
  );
}

/** Marks all blocks of each watch as not scanned. */
export async function scanAllAgain(tx: pg.ClientBase, offsetHeight: Height): Promise<void> {
  await tx.query(
    `UPDATE service.watched_scripts SET since_height = least(since_height, $1 + 1),
            next_height = CASE WHEN since_height <= $1 THEN since_height END
      WHERE picked_up`,
    [offsetHeight],
  );
}

/**
 * The lowest start height of each given script that is watched. The keys are the script's bytes as latin-1. Locks the
 * watches, so that they cannot end before the transaction ends.
 */
export async function lockWatches(
  tx: pg.ClientBase,
  scripts: readonly Buffer[],
): Promise<ReadonlyMap<string, number>> {
  const { rows } = await tx.query<{ script: Buffer; since_height: Height }>(
    `SELECT script, since_height FROM service.watched_scripts WHERE script = ANY($1)
      ORDER BY script, watcher FOR KEY SHARE`,
    [scripts],
  );
  const since = new Map<string, number>();
  for (const { script, since_height: height } of rows) {
    const key = script.toString('latin1');
    since.set(key, Math.min(height, since.get(key) ?? height));
  }
  return since;
}
