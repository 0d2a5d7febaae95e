import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { lockKey } from '#accounts/account.store.ts';
import { lastSequenceSql } from '#chain/events/events.queries.ts';
import { withTransaction } from '#kernel/pg/transaction.ts';
import { isUuid } from '#kernel/primitives/uuid.ts';
import { isIdOfForm } from '#watches/form-watch-id.ts';
import type { AskedCondition, Watch, WatchKind } from '#watches/watch.ts';

/** Channel that reports new and ended watches. */
export const watchesChannel = 'satscribe_watches';

/**
 * Maximum number of active watches of a key. Each watch costs memory of the process that matches, and may cause a
 * message per block.
 */
export const watchesMax = 100;
/**
 * Maximum number of ended watches of a key, and of deleted ids, that are kept when the key creates another watch. A key
 * whose webhooks answer 410 could otherwise store watches and findings without a bound.
 */
const endedMax = 100;

export interface NewWatch {
  /**
   * The id of the new watch. If the key already has an active watch with this id, no second watch is created. If the
   * watch with this id has ended, the new watch has another id.
   */
  readonly id?: string;
  readonly keyId: number;
  readonly kind: WatchKind;
  readonly condition: AskedCondition;
  /** `urlProblem` must have accepted this URL. */
  readonly webhookUrl: string | null;
  /** Public key of the current service secret. Null without a webhook. */
  readonly secretKey: Uint8Array | null;
}

/** SQL columns that are read as a `Watch`. */
export const watchColumns = `id, key_id AS "keyId", kind, condition, webhook_url AS "webhookUrl",
  secret_key AS "secretKey", created_at AS "createdAt", ended_at AS "endedAt", end_reason AS "endReason",
  last_number AS "lastNumber", found`;

/** SQL condition of watches that their key has not deleted. */
const isKept = `end_reason IS DISTINCT FROM 'deleted'`;

/**
 * Creates a watch. It matches transactions that arrive from now on. Returns the number of active watches of the key if
 * this number is already `watchesMax`. Returns the active watch that the key already has with this id, if there is one.
 */
export async function createWatch(
  pool: pg.Pool,
  { id = randomUUID(), keyId, kind, condition, webhookUrl, secretKey }: NewWatch,
): Promise<
  { readonly kind: 'created'; readonly watch: Watch } | { readonly kind: 'full'; readonly count: number }
> {
  return withTransaction(pool, async (tx) => {
    // requests of one key wait for each other, so that both do not count the same number
    await lockKey(tx, keyId);
    const { rows: before } = await tx.query<Watch>(
      `SELECT ${watchColumns} FROM service.watches WHERE id = $1 AND key_id = $2`,
      [id, keyId],
    );
    const [same] = before;
    if (same?.endedAt === null) return { kind: 'created', watch: same };
    const { rows: counted } = await tx.query<{ count: number }>(
      'SELECT count(*) AS count FROM service.watches WHERE key_id = $1 AND ended_at IS NULL',
      [keyId],
    );
    const count = counted[0]?.count ?? 0;
    if (count >= watchesMax) return { kind: 'full', count };
    await tx.query(
      `DELETE FROM service.watches WHERE id IN (
         SELECT id FROM (
           SELECT id, row_number() OVER (PARTITION BY end_reason = 'deleted' ORDER BY ended_at DESC, id) AS nth
             FROM service.watches WHERE key_id = $1 AND ended_at IS NOT NULL) AS ended WHERE nth > ${endedMax})`,
      [keyId],
    );
    const { rows } = await tx.query<Watch>(
      `INSERT INTO service.watches (id, key_id, kind, condition, webhook_url, secret_key, since)
       VALUES ($1, $2, $3, $4, $5, $6, ${lastSequenceSql}) RETURNING ${watchColumns}`,
      [
        same === undefined ? id : randomUUID(),
        keyId,
        kind,
        JSON.stringify(condition),
        webhookUrl,
        secretKey && Buffer.from(secretKey),
      ],
    );
    await tx.query(`SELECT pg_notify('${watchesChannel}', '')`);
    return { kind: 'created', watch: rows[0] as Watch };
  });
}

/**
 * All watches of a key, oldest first. `watchesMax` and `endedMax` bound their number.
 *
 * @param kind only watches of this kind; null for all kinds
 */
export async function readWatches(
  client: pg.Pool | pg.ClientBase,
  keyId: number,
  kind: WatchKind | null,
): Promise<Watch[]> {
  const { rows } = await client.query<Watch>(
    `SELECT ${watchColumns} FROM service.watches
      WHERE key_id = $1 AND ($2::text IS NULL OR kind = $2) AND ${isKept} ORDER BY created_at, id`,
    [keyId, kind],
  );
  return rows;
}

/**
 * A watch by its id. Returns null if there is no such watch, if it belongs to another key, or if the text is not an id.
 * So a key learns nothing about watches of other keys.
 *
 * @param keyId null for the watch of any key, if the id itself was proven by a token
 */
export async function readWatch(
  client: pg.Pool | pg.ClientBase,
  keyId: number | null,
  id: string,
): Promise<Watch | null> {
  if (!isUuid(id)) return null;
  const { rows } = await client.query<Watch>(
    `SELECT ${watchColumns} FROM service.watches
      WHERE id = $1 AND ($2::integer IS NULL OR key_id = $2) AND ${isKept}`,
    [id, keyId],
  );
  return rows[0] ?? null;
}

/**
 * Deletes a watch of a key with its findings, also a watch that has ended. Returns the watch as it was before. Returns
 * null if the key has no such watch. The id of a form's watch stays stored as deleted. If the form is sent again, the
 * new watch has another id, because its numbers start from 1.
 *
 * @param kind only a watch of this kind; null for any kind
 */
export async function deleteWatch(
  pool: pg.Pool,
  keyId: number,
  id: string,
  kind: WatchKind | null,
): Promise<Watch | null> {
  if (!isUuid(id)) return null;
  return withTransaction(pool, async (tx) => {
    const { rows } = await tx.query<Watch>(
      `DELETE FROM service.watches WHERE id = $1 AND key_id = $2 AND ($3::text IS NULL OR kind = $3) AND ${isKept}
       RETURNING ${watchColumns}`,
      [id, keyId, kind],
    );
    const [watch] = rows;
    if (watch === undefined) return null;
    if (isIdOfForm(watch.id))
      await tx.query(
        `INSERT INTO service.watches (id, key_id, kind, condition, since, ended_at, end_reason)
         VALUES ($1, $2, $3, '{}', 0, now(), 'deleted')`,
        [watch.id, keyId, watch.kind],
      );
    await tx.query(`SELECT pg_notify('${watchesChannel}', '')`);
    return watch;
  });
}
