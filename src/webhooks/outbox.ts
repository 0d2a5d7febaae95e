import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { webhooksChannel } from './webhook.ts';

/** Subject and receiver of messages. */
export interface WebhookAddress {
  /** The kind and id of what they are about, as `order 6ba7b810-…`: its messages are numbered, and sent in order. */
  readonly subject: string;
  /** The URL as given; null: no receiver, the messages can only be read. `urlProblem` has accepted it. */
  readonly url: string | null;
  /**
   * The name of the shared secret (WebhookKeys.sharedSecret) with which they are also signed; absent: no such secret.
   */
  readonly secretOf?: string | undefined;
}

/** Writes one message (`putWebhooks`) and returns its sequence. */
export async function putWebhook(
  tx: pg.ClientBase,
  { body, ...address }: WebhookAddress & { readonly body: object },
): Promise<number> {
  return putWebhooks(tx, address, [body]);
}

/**
 * Writes messages, in their order, in the transaction of the change that they tell of: they are sent once it commits,
 * and never without it. Until then other writers of the subject wait. Returns the sequence of the first one, from 1 on;
 * a rolled back transaction leaves no gap.
 *
 * @param bodies each is written as JSON, and sent byte for byte as it is written here
 */
export async function putWebhooks(
  tx: pg.ClientBase,
  address: WebhookAddress,
  bodies: readonly object[],
): Promise<number> {
  assert(bodies.length > 0, 'a message has a body');
  const [first] = await putWebhooksOf(tx, [{ ...address, bodies }]);
  assert(first !== undefined, 'messages that are written have sequences');
  return first;
}

/** Messages of a subject, in their order. */
export type WebhookMessages = WebhookAddress & { readonly bodies: readonly object[] };

/**
 * Writes messages of many subjects, like `putWebhooks`, with one statement: a block may change a thousand of them.
 * Returns the first sequence of each, in the order in which they are given.
 *
 * @param messages none of two has the same subject, and each has a body
 */
export async function putWebhooksOf(
  tx: pg.ClientBase,
  messages: readonly WebhookMessages[],
): Promise<number[]> {
  if (messages.length === 0) return [];
  // two transactions take subjects in one order
  const ordered = messages.toSorted((a, b) => (a.subject < b.subject ? -1 : 1));
  const bodies = ordered.flatMap((each) => each.bodies.map((body, nth) => ({ body, nth, of: each.subject })));
  const { rows } = await tx.query<{ subject: string; first: number; isWaiting: boolean }>(
    `WITH put AS (
       SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::integer[])
              AS m (subject, url, host, secret_of, count)
     ), told AS (
       INSERT INTO service.webhook_subjects AS known (subject, last_sequence, head_sequence, host, due_at)
       SELECT subject, count, CASE WHEN host IS NOT NULL THEN 1 END, host, CASE WHEN host IS NOT NULL THEN now() END
         FROM put
       ON CONFLICT (subject) DO UPDATE SET (last_sequence, head_sequence, host, due_at) = (
         SELECT known.last_sequence + put.count,
                CASE WHEN is_first THEN known.last_sequence + 1 ELSE known.head_sequence END,
                CASE WHEN is_first THEN put.host ELSE known.host END,
                CASE WHEN is_first THEN now() ELSE known.due_at END
           FROM put CROSS JOIN LATERAL (
             SELECT known.head_sequence IS NULL AND put.host IS NOT NULL
                    AND known.gone_url IS DISTINCT FROM put.url AS is_first) AS place
          WHERE put.subject = known.subject)
       RETURNING subject, last_sequence, gone_url
     ), placed AS (
       SELECT subject, url, host, secret_of, last_sequence - count + 1 AS first,
              CASE WHEN url IS NULL THEN 'no-url' WHEN gone_url = url THEN 'gone' ELSE 'waiting' END AS state
         FROM put JOIN told USING (subject)
     ), written AS (
       INSERT INTO service.webhooks (subject, sequence, id, url, host, body, secret_of, created_at, state)
       SELECT subject, first + nth, id, url, host, body, secret_of, now(), state
         FROM placed JOIN unnest($6::text[], $7::integer[], $8::text[], $9::bytea[]) AS m (subject, nth, id, body)
              USING (subject)
     )
     SELECT subject, first, state = 'waiting' AS "isWaiting" FROM placed`,
    [
      ordered.map(({ subject }) => subject),
      ordered.map(({ url }) => url),
      ordered.map(({ url }) => (url === null ? null : new URL(url).hostname)),
      ordered.map(({ secretOf }) => secretOf ?? null),
      ordered.map((each) => each.bodies.length),
      bodies.map(({ of }) => of),
      bodies.map(({ nth }) => nth),
      bodies.map(() => messageId()),
      bodies.map(({ body }) => Buffer.from(JSON.stringify(body))),
    ],
  );
  if (rows.some(({ isWaiting }) => isWaiting)) await tx.query(`SELECT pg_notify('${webhooksChannel}', '')`);
  const firsts = new Map(rows.map(({ subject, first }) => [subject, first]));
  return messages.map(({ subject }) => firsts.get(subject) ?? 0);
}

const messageId = (): string => `msg_${randomUUID().replaceAll('-', '')}`;

/**
 * Sends the messages of a subject again, from a sequence on, in their order and with their ids, also to a URL that
 * answered 410. Those that wait for a further try are due at once. Returns how many messages wait now.
 */
export async function replayWebhooks(tx: pg.ClientBase, subject: string, from: number): Promise<number> {
  const { rowCount: known } = await tx.query(
    'SELECT FROM service.webhook_subjects WHERE subject = $1 FOR UPDATE',
    [subject],
  );
  if (known === 0) return 0;
  const { rowCount } = await tx.query(
    `UPDATE service.webhooks SET state = 'waiting', tries = 0
      WHERE subject = $1 AND sequence >= $2 AND state <> 'no-url'`,
    [subject, from],
  );
  // a message that is being tried is marked by its process, which then continues with the first waiting one
  await tx.query(
    `UPDATE service.webhook_subjects AS subject
        SET head_sequence = head.sequence, host = head.host, gone_url = NULL,
            due_at = CASE WHEN taken_by IS NULL THEN now() ELSE due_at END
       FROM (SELECT sequence, host FROM service.webhooks WHERE subject = $1 AND state = 'waiting'
              ORDER BY sequence LIMIT 1) AS head
      WHERE subject.subject = $1`,
    [subject],
  );
  await tx.query(`SELECT pg_notify('${webhooksChannel}', '')`);
  return rowCount ?? 0;
}
