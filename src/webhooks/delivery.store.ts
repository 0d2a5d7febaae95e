import type pg from 'pg';
import { withTransaction } from '#kernel/pg/transaction.ts';
import type { WebhookTryResult } from '#kernel/reports/metrics.ts';

/**
 * How quickly a host answered the last try. 0: at once. 1: unknown. 2: slowly, or not at all. Messages for hosts with
 * lower values are taken first.
 */
export type HostStanding = 0 | 1 | 2;

/** Decides which messages are taken. */
export interface TakeOptions {
  /** Milliseconds by which the clock of this process is ahead of the database's clock. It is 0 except in tests. */
  readonly aheadMs: number;
  /** Maximum number of messages to take. `freeByStanding` is the maximum for hosts of each speed. */
  readonly free: number;
  readonly freeByStanding: Readonly<Record<HostStanding, number>>;
  /** Number of running tries, by host. `hostMax` is the maximum for one host. */
  readonly busy: ReadonlyMap<string, number>;
  readonly hostMax: number;
  /** Whether to take the newest messages instead of the oldest. Applies to hosts of unknown speed. */
  readonly newestFirst: boolean;
  /** How long the lease of these messages is, in ms. During this time, no other process takes the messages. */
  readonly leaseMs: number;
}

export interface TakenWebhook {
  readonly subject: string;
  readonly sequence: number;
  readonly host: string;
  readonly standing: HostStanding;
  /** Token that identifies this taking of the message. */
  readonly token: string;
  readonly id: string;
  readonly url: string;
  readonly body: Buffer;
  readonly secretOf: string | null;
  /** Number of earlier tries. */
  readonly tries: number;
}

const later = (milliseconds: string): string => `now() + ${milliseconds} * interval '1 millisecond'`;

/**
 * Maximum number of messages to rank, for hosts of each speed. This is enough for all tries, because hosts with their
 * maximum number of tries are excluded first.
 */
const candidatesMax = 500;

const takeSql = `
  WITH places (standing, is_quick, free) AS (VALUES (0, true, $3::int), (1, NULL, $4::int), (2, false, $5::int)),
  due AS (
    SELECT subject, due_at, host, standing, row_number() OVER (PARTITION BY host ORDER BY due_at, subject) AS nth_of_host
      FROM places CROSS JOIN LATERAL (
        SELECT subject, due_at, host FROM service.webhook_subjects LEFT JOIN service.webhook_hosts AS known USING (host)
         WHERE places.free > 0 AND due_at <= ${later('$1::float8')} AND host <> ALL($10::text[])
           AND known.is_quick IS NOT DISTINCT FROM places.is_quick
         ORDER BY extract(epoch FROM due_at) * CASE WHEN $6::boolean AND standing = 1 THEN -1 ELSE 1 END
         LIMIT ${candidatesMax}) AS candidates
  ), ranked AS (
    SELECT subject, standing,
           row_number() OVER (PARTITION BY standing ORDER BY
             extract(epoch FROM due_at) * CASE WHEN $6::boolean AND standing = 1 THEN -1 ELSE 1 END, subject) AS nth
      FROM due LEFT JOIN unnest($7::text[], $8::int[]) AS busy (host, tries) USING (host)
     WHERE nth_of_host + coalesce(busy.tries, 0) <= $9::int
  ), chosen AS (
    SELECT known.subject, ranked.standing
      FROM ranked JOIN places USING (standing) JOIN service.webhook_subjects AS known USING (subject)
     WHERE ranked.nth <= places.free AND known.due_at <= ${later('$1::float8')}
     ORDER BY ranked.standing, ranked.nth LIMIT $2 FOR UPDATE OF known SKIP LOCKED
  )
  UPDATE service.webhook_subjects AS taken
     SET due_at = ${later('($1::float8 + $11::float8)')}, taken_by = gen_random_uuid()
    FROM chosen WHERE taken.subject = chosen.subject
  RETURNING taken.subject, head_sequence AS sequence, host, chosen.standing, taken_by AS token`;

/**
 * Takes due messages for one try each. Takes only the first waiting message of each subject. Skips messages that
 * another process is taking at the same time.
 */
export async function takeDue(client: pg.ClientBase, options: TakeOptions): Promise<TakenWebhook[]> {
  const { aheadMs, free, freeByStanding, busy, hostMax, newestFirst, leaseMs } = options;
  const { rows: taken } = await client.query<
    Pick<TakenWebhook, 'subject' | 'sequence' | 'host' | 'standing' | 'token'>
  >(takeSql, [
    aheadMs,
    free,
    freeByStanding[0],
    freeByStanding[1],
    freeByStanding[2],
    newestFirst,
    [...busy.keys()],
    [...busy.values()],
    hostMax,
    [...busy].filter(([, tries]) => tries >= hostMax).map(([host]) => host),
    leaseMs,
  ]);
  if (taken.length === 0) return [];
  // use a separate statement, because the first message that the statement above sees may be older than the message
  // that it takes
  const { rows } = await client.query<
    Pick<TakenWebhook, 'subject' | 'id' | 'url' | 'body' | 'secretOf' | 'tries'>
  >(
    `SELECT subject, id, url, body, secret_of AS "secretOf", tries FROM service.webhooks
       JOIN unnest($1::text[], $2::bigint[]) AS taken (subject, sequence) USING (subject, sequence)`,
    [taken.map(({ subject }) => subject), taken.map(({ sequence }) => sequence)],
  );
  const messages = new Map(rows.map((row) => [row.subject, row]));
  return taken.flatMap((one) => {
    const message = messages.get(one.subject);
    return message === undefined ? [] : [{ ...one, ...message }];
  });
}

/** Ends the leases of messages whose tries had no result, so that another process may try these messages at once. */
export async function giveBack(
  client: pg.Pool | pg.ClientBase,
  tokens: readonly string[],
  aheadMs: number,
): Promise<void> {
  await client.query(
    `UPDATE service.webhook_subjects SET due_at = ${later('$2::float8')}, taken_by = NULL
      WHERE taken_by = ANY($1::uuid[])`,
    [tokens, aheadMs],
  );
}

/** Milliseconds until the next message becomes due. Returns null if no message waits. */
export async function nextDueMs(client: pg.ClientBase, aheadMs: number): Promise<number | null> {
  const { rows } = await client.query<{ waitMs: number | null }>(
    `SELECT extract(epoch FROM min(due_at) - (${later('$1::float8')}))::float8 * 1000 AS "waitMs"
       FROM service.webhook_subjects WHERE due_at > ${later('$1::float8')}`,
    [aheadMs],
  );
  return rows[0]?.waitMs ?? null;
}

/** Result of a try. */
export interface TryResult {
  readonly outcome: WebhookTryResult;
  /** HTTP status of the response. Null if there was no response. */
  readonly status: number | null;
  /** The reason why there was no response. Null if there was a response. */
  readonly error: string | null;
  /** Whether the host answered at once. */
  readonly isQuick: boolean;
}

/**
 * The step after a try. `pauseMs` is the pause before the message's next try, in ms, or `null` if there is no further
 * try.
 */
export interface MarkOptions {
  readonly pauseMs: number | null;
  readonly aheadMs: number;
}

type Tried = Pick<TakenWebhook, 'subject' | 'sequence' | 'host' | 'token' | 'url'>;

/**
 * Stores the result of a try, and decides which message of its subject is next. Returns false, and changes nothing, if
 * the lease had ended and another process has taken the message.
 */
export async function markTry(
  pool: pg.Pool,
  tried: Tried,
  { outcome, status, error }: TryResult,
  { pauseMs, aheadMs }: MarkOptions,
): Promise<boolean> {
  const { subject, sequence, token, url } = tried;
  const now = later('$3::float8');
  return withTransaction(pool, async (tx) => {
    const { rowCount } = await tx.query(
      'SELECT FROM service.webhook_subjects WHERE subject = $1 AND taken_by = $2 FOR UPDATE',
      [subject, token],
    );
    if (rowCount === 0) return false;
    const isFailed = outcome === 'refused' || outcome === 'unanswered';
    const state = isFailed ? (pauseMs === null ? 'given-up' : 'waiting') : outcome;
    await tx.query(
      `UPDATE service.webhooks SET tries = tries + 1, tried_at = ${now}, state = $4, status = $5, error = $6
        WHERE subject = $1 AND sequence = $2`,
      [subject, sequence, aheadMs, state, status, error],
    );
    if (outcome === 'gone') await endUrl(tx, subject, url);
    await tx.query(
      `UPDATE service.webhook_subjects SET taken_by = NULL, (head_sequence, host, due_at) = (
         SELECT head.sequence, head.host,
                ${now} + CASE WHEN head.sequence = $2 THEN $4::float8 ELSE 0 END * interval '1 millisecond'
           FROM service.webhooks AS head WHERE head.subject = $1 AND head.state = 'waiting'
          ORDER BY head.sequence LIMIT 1)
        WHERE subject = $1`,
      [subject, sequence, aheadMs, pauseMs ?? 0],
    );
    return true;
  });
}

/** Ends all messages of a subject to a URL that answered 410. This includes future messages. */
async function endUrl(tx: pg.ClientBase, subject: string, url: string): Promise<void> {
  await tx.query(
    `UPDATE service.webhooks SET state = 'gone' WHERE subject = $1 AND url = $2 AND state = 'waiting'`,
    [subject, url],
  );
  await tx.query('UPDATE service.webhook_subjects SET gone_url = $2 WHERE subject = $1', [subject, url]);
}

/** Stores whether a host answered at once. */
export async function noteHost(pool: pg.Pool, host: string, isQuick: boolean): Promise<void> {
  await pool.query(
    `INSERT INTO service.webhook_hosts (host, is_quick, tried_at) VALUES ($1, $2, now())
     ON CONFLICT (host) DO UPDATE SET is_quick = excluded.is_quick, tried_at = excluded.tried_at`,
    [host, isQuick],
  );
}

/** Maximum number of rows that one statement deletes. A statement takes a few hundred milliseconds. */
const forgottenAtOnce = 5000;

/**
 * Deletes messages and hosts that are older than 30 days, except messages that still wait. Returns the number of
 * deleted messages.
 */
export async function forgetOld(client: pg.ClientBase, aheadMs: number): Promise<number> {
  const old = `${later('$1::float8')} - interval '30 days'`;
  let forgotten = 0;
  for (;;) {
    const { rowCount } = await client.query(
      `DELETE FROM service.webhooks WHERE (subject, sequence) IN (
         SELECT subject, sequence FROM service.webhooks WHERE state <> 'waiting' AND created_at < ${old} LIMIT $2)`,
      [aheadMs, forgottenAtOnce],
    );
    forgotten += rowCount ?? 0;
    if (rowCount !== forgottenAtOnce) break;
  }
  await client.query(`DELETE FROM service.webhook_hosts WHERE tried_at < ${old}`, [aheadMs]);
  return forgotten;
}
