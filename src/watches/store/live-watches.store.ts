import type pg from 'pg';
import { type AskedCondition, subjectSql, type WatchKind } from '#watches/watch.ts';

/** An active watch, as far as matching needs it. */
export interface StoredLiveWatch {
  readonly id: string;
  readonly kind: WatchKind;
  readonly condition: AskedCondition;
  /** Only blocks of later rows of the outbox are matched. */
  readonly since: number;
}

/** A number that differs after a watch was created or ended, at any number of changes. */
export async function readLiveMark(client: pg.ClientBase): Promise<string> {
  const { rows } = await client.query<{ mark: string }>(
    `SELECT count(*) || ' ' || coalesce(bit_xor(hashtextextended(id::text, 0)), 0) AS mark
       FROM service.watches WHERE ended_at IS NULL`,
  );
  return rows[0]?.mark ?? '';
}

/** Ids of all active watches. */
export async function readLiveIds(client: pg.ClientBase): Promise<string[]> {
  const { rows } = await client.query<{ id: string }>(
    'SELECT id FROM service.watches WHERE ended_at IS NULL',
  );
  return rows.map(({ id }) => id);
}

/** Active watches by their ids. */
export async function readLiveWatches(
  client: pg.ClientBase,
  ids: readonly string[],
): Promise<StoredLiveWatch[]> {
  const { rows } = await client.query<StoredLiveWatch>(
    `SELECT id, kind, condition, since FROM service.watches
      WHERE id = ANY($1::uuid[]) AND ended_at IS NULL ORDER BY created_at, id`,
    [ids],
  );
  return rows;
}

/** Keys that have active watches. */
export async function readWatchingKeys(client: pg.ClientBase): Promise<number[]> {
  const { rows } = await client.query<{ key: number }>(
    'SELECT DISTINCT key_id AS key FROM service.watches WHERE ended_at IS NULL',
  );
  return rows.map(({ key }) => key);
}

/** Ends the active watches of keys, because these keys were revoked. */
export async function endRevoked(client: pg.ClientBase, keys: readonly number[]): Promise<void> {
  await client.query(
    `UPDATE service.watches SET ended_at = now(), end_reason = 'revoked' WHERE key_id = ANY($1) AND ended_at IS NULL`,
    [keys],
  );
}

/** Ends the active watches whose webhook URLs answered 410. */
export async function endGone(client: pg.ClientBase): Promise<void> {
  await client.query(
    `UPDATE service.watches AS w SET ended_at = now(), end_reason = 'gone' FROM service.webhook_subjects AS s
      WHERE w.ended_at IS NULL AND s.subject = ${subjectSql('w')} AND s.gone_url = w.webhook_url`,
  );
}

/**
 * The watches of a list that still tell their findings. Deleted watches, and watches of revoked keys, tell nothing
 * more.
 */
export async function readTellingAmong(client: pg.ClientBase, ids: readonly string[]): Promise<string[]> {
  const { rows } = await client.query<{ id: string }>(
    `SELECT id FROM service.watches WHERE id = ANY($1::uuid[]) AND (end_reason IS NULL OR end_reason = 'gone')`,
    [ids],
  );
  return rows.map(({ id }) => id);
}

/**
 * How long ended watches, and findings after their last change, are kept, in days. A webhook is retried for three days.
 */
const keptDays = 30;
/**
 * Maximum number of findings that are deleted at once. The process that follows watches deletes findings between two
 * rounds, and a flood leaves a million findings that are old at the same time.
 */
const deletedMax = 5_000;

/** Deletes what is no longer kept, a bounded number at once. Returns whether more remains. */
export async function deleteOld(client: pg.ClientBase): Promise<boolean> {
  const old = `now() - make_interval(days => ${keptDays})`;
  // a key may delete a watch with these findings now, in another order of its rows
  const { rowCount } = await client.query(
    `DELETE FROM service.watch_findings WHERE (watch_id, thing) IN (
       SELECT watch_id, thing FROM service.watch_findings WHERE changed_at < ${old}
        ORDER BY changed_at LIMIT ${deletedMax} FOR UPDATE SKIP LOCKED)`,
  );
  if (rowCount === deletedMax) return true;
  // findings of a watch are not newer than its end, so nearly all are deleted before the watch
  await client.query(`DELETE FROM service.watches WHERE ended_at < ${old}`);
  return false;
}
