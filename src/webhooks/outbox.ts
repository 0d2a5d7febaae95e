import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { webhooksChannel } from './webhook.ts';

/** Subject and receiver of messages. */
export interface WebhookAddress {
  /**
   * The kind and id of the object that the messages are about, such as `order 6ba7b810-…`. The messages of a subject
   * are numbered, and sent in this order.
   */
  readonly subject: string;
  /**
   * The receiver's URL, unchanged. `urlProblem` must have accepted it. Null if there is no receiver. The messages can
   * then only be read.
   */
  readonly url: string | null;
  /**
   * The name of the shared secret (WebhookKeys.sharedSecret) that also signs the messages. Absent if there is no such
   * secret.
   */
  readonly secretOf?: string | undefined;
}

/** Writes one message (`putWebhooks`), and returns the sequence number of the message. */
export async function putWebhook(
  tx: pg.ClientBase,
  { body, ...address }: WebhookAddress & { readonly body: object },
): Promise<number> {
  return putWebhooks(tx, address, [body]);
}

/**
 * Writes messages in the given order, in the transaction of the change that the messages report. The messages are sent
 * when the transaction commits, and never if it is rolled back. Until then, other writers of the subject wait. Returns
 * the sequence number of the first message. Numbers begin at 1. A rolled back transaction leaves no gap.
 *
 * @param bodies each body is stored as JSON, and these bytes are sent unchanged
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

/** The messages of one subject, in their order. */
export type WebhookMessages = WebhookAddress & { readonly bodies: readonly object[] };

/**
 * Writes messages of many subjects, like `putWebhooks`, but with one statement, because a block may change a thousand
 * subjects. Returns the first sequence number of each subject, in the order of `messages`.
 *
 * @param messages all subjects must be different, and each subject needs at least one body
 */
export async function putWebhooksOf(
  tx: pg.ClientBase,
  messages: readonly WebhookMessages[],
): Promise<number[]> {
  if (messages.length === 0) return [];
  // all transactions lock subjects in the same order, so they cannot deadlock
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
 * Sends the messages of a subject again, from a sequence number on, in their order and with the same ids. Also sends
 * messages to a URL that answered 410. Messages that wait for a further try become due at once. Returns the number of
 * messages that wait now.
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
  // if a process is trying a message now, this process later stores the result, and continues with the first waiting
  // message
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
