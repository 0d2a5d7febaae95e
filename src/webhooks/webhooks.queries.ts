import type pg from 'pg';
import type { WebhookState } from './webhook.ts';

/** A message with its state. */
export interface Webhook {
  readonly sequence: number;
  readonly id: string;
  /** The stored JSON body. */
  readonly body: string;
  readonly createdAt: Date;
  readonly state: WebhookState;
  readonly tries: number;
  /**
   * Time of the last try. Null if there was no try. `status` is the HTTP status of the response, and null if there was
   * no response. `error` is the fault of the try, and null if there was no fault.
   */
  readonly triedAt: Date | null;
  readonly status: number | null;
  readonly error: string | null;
  /** Time of the next try. Null if the message is settled, is being tried, or waits for the message before it. */
  readonly nextTryAt: Date | null;
}

/** A message with fields that only the operator may see, because URLs may contain secret tokens of the receivers. */
export interface WebhookDelivery extends Webhook {
  readonly subject: string;
  readonly url: string | null;
}

const columns = `sequence, id, convert_from(body, 'UTF8') AS body, created_at AS "createdAt", state, tries,
  tried_at AS "triedAt", status, error,
  CASE WHEN sequence = head_sequence AND taken_by IS NULL THEN due_at END AS "nextTryAt"`;
const tables = 'service.webhooks JOIN service.webhook_subjects USING (subject)';

/** Reads at most `limit` messages of a subject, after a sequence number. Messages are kept for 30 days. */
export async function readWebhooks(
  client: pg.Pool | pg.ClientBase,
  subject: string,
  after: number,
  limit: number,
): Promise<Webhook[]> {
  const { rows } = await client.query<Webhook>(
    `SELECT ${columns} FROM ${tables} WHERE subject = $1 AND sequence > $2 ORDER BY sequence LIMIT $3`,
    [subject, after, limit],
  );
  return rows;
}

export interface WhichDeliveries {
  /** Only messages of this subject. Absent if messages of all subjects are wanted. */
  readonly subject?: string | undefined;
  readonly state?: WebhookState | undefined;
  readonly limit: number;
}

/** Reads at most `limit` messages, the newest first. */
export async function listDeliveries(
  client: pg.Pool | pg.ClientBase,
  { subject, state, limit }: WhichDeliveries,
): Promise<WebhookDelivery[]> {
  const { rows } = await client.query<WebhookDelivery>(
    `SELECT subject, url, ${columns} FROM ${tables}
      WHERE ($1::text IS NULL OR subject = $1) AND ($2::text IS NULL OR state = $2)
      ORDER BY created_at DESC, subject, sequence DESC LIMIT $3`,
    [subject ?? null, state ?? null, limit],
  );
  return rows;
}

/** Messages that wait to be sent, and messages of the last 30 days that never arrived. */
export interface WaitingWebhooks {
  readonly count: number;
  /** Age of the oldest waiting message. Null if no message waits. */
  readonly oldestSeconds: number | null;
  /** Messages whose tries all failed. */
  readonly givenUp: number;
  /** Messages to URLs that answered 410. */
  readonly gone: number;
}

export async function readWaiting(client: pg.Pool | pg.ClientBase): Promise<WaitingWebhooks> {
  const { rows } = await client.query<WaitingWebhooks>(
    `SELECT count(*) AS count, extract(epoch FROM now() - min(created_at))::float8 AS "oldestSeconds",
            (SELECT count(*) FROM service.webhooks WHERE state = 'given-up') AS "givenUp",
            (SELECT count(*) FROM service.webhooks WHERE state = 'gone') AS gone
       FROM service.webhooks WHERE state = 'waiting'`,
  );
  return rows[0] ?? { count: 0, oldestSeconds: null, givenUp: 0, gone: 0 };
}

/** A receiver whose messages do not arrive. */
export interface FailingReceiver {
  readonly host: string;
  /** Number of messages that failed at least three times and still wait, or were given up within the last day. */
  readonly count: number;
}

/** At most three receivers whose messages do not arrive, with the most messages first. */
export async function readFailingReceivers(client: pg.Pool | pg.ClientBase): Promise<FailingReceiver[]> {
  const { rows } = await client.query<FailingReceiver>(
    `SELECT host, count(*) AS count FROM service.webhooks
      WHERE host IS NOT NULL
        AND (state = 'waiting' AND tries >= 3 OR state = 'given-up' AND tried_at > now() - interval '1 day')
      GROUP BY host ORDER BY count(*) DESC, host LIMIT 3`,
  );
  return rows;
}
