import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { webhooksChannel } from './webhook.ts';

/** Whom messages are about and who is told. */
export interface WebhookAddress {
  /** The kind and id of what they are about, as `order 6ba7b810-…`: its messages are numbered, and sent in order. */
  readonly subject: string;
  /** As it was given; null: nobody is told, the messages can be read. `urlProblem` has said nothing against it. */
  readonly url: string | null;
  /** The name of the shared secret (WebhookKeys.sharedSecret) with which they are signed too; absent: none. */
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
  { subject, url, secretOf }: WebhookAddress,
  bodies: readonly object[],
): Promise<number> {
  assert(bodies.length > 0, 'a message has a body');
  const host = url === null ? null : new URL(url).hostname;
  const { rows } = await tx.query<{ last: number; isGone: boolean }>(
    `INSERT INTO service.webhook_subjects AS known (subject, last_sequence, head_sequence, host, due_at)
     VALUES ($1, $2, CASE WHEN $4::text IS NOT NULL THEN 1 END, $4, CASE WHEN $4::text IS NOT NULL THEN now() END)
     ON CONFLICT (subject) DO UPDATE SET (last_sequence, head_sequence, host, due_at) = (
       SELECT known.last_sequence + $2,
              CASE WHEN is_first THEN known.last_sequence + 1 ELSE known.head_sequence END,
              CASE WHEN is_first THEN $4 ELSE known.host END,
              CASE WHEN is_first THEN now() ELSE known.due_at END
         FROM (SELECT known.head_sequence IS NULL AND $3::text IS NOT NULL
                      AND known.gone_url IS DISTINCT FROM $3 AS is_first) AS put)
     RETURNING last_sequence AS last, coalesce(gone_url = $3, false) AS "isGone"`,
    [subject, bodies.length, url, host],
  );
  const [{ last, isGone }] = rows as [{ last: number; isGone: boolean }];
  const first = last - bodies.length + 1;
  const state = url === null ? 'no-url' : isGone ? 'gone' : 'waiting';
  await tx.query(
    `INSERT INTO service.webhooks (subject, sequence, id, url, host, body, secret_of, created_at, state)
     SELECT $1, $2 + nth - 1, id, $3, $4, body, $5, now(), $6
       FROM unnest($7::text[], $8::bytea[]) WITH ORDINALITY AS put (id, body, nth)`,
    [
      subject,
      first,
      url,
      host,
      secretOf ?? null,
      state,
      bodies.map(() => messageId()),
      bodies.map((body) => Buffer.from(JSON.stringify(body))),
    ],
  );
  if (state === 'waiting') await tx.query(`SELECT pg_notify('${webhooksChannel}', '')`);
  return first;
}

/** A message of a subject. */
export type WebhookMessage = WebhookAddress & { readonly body: object };

/**
 * Writes a message for each of many subjects, like `putWebhooks`, with two statements in all: a block may change a
 * thousand of them.
 *
 * @param messages none of two has the same subject
 */
export async function putWebhooksOf(tx: pg.ClientBase, messages: readonly WebhookMessage[]): Promise<void> {
  if (messages.length === 0) return;
  // two transactions take subjects in one order
  const ordered = messages.toSorted((a, b) => (a.subject < b.subject ? -1 : 1));
  const hosts = ordered.map(({ url }) => (url === null ? null : new URL(url).hostname));
  const { rows } = await tx.query<{ isWaiting: boolean }>(
    `WITH put AS (
       SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::bytea[])
              AS m (subject, url, host, secret_of, id, body)
     ), told AS (
       INSERT INTO service.webhook_subjects AS known (subject, last_sequence, head_sequence, host, due_at)
       SELECT subject, 1, CASE WHEN host IS NOT NULL THEN 1 END, host, CASE WHEN host IS NOT NULL THEN now() END FROM put
       ON CONFLICT (subject) DO UPDATE SET (last_sequence, head_sequence, host, due_at) = (
         SELECT known.last_sequence + 1,
                CASE WHEN is_first THEN known.last_sequence + 1 ELSE known.head_sequence END,
                CASE WHEN is_first THEN put.host ELSE known.host END,
                CASE WHEN is_first THEN now() ELSE known.due_at END
           FROM put CROSS JOIN LATERAL (
             SELECT known.head_sequence IS NULL AND put.host IS NOT NULL
                    AND known.gone_url IS DISTINCT FROM put.url AS is_first) AS place
          WHERE put.subject = known.subject)
       RETURNING subject, last_sequence, gone_url
     )
     INSERT INTO service.webhooks (subject, sequence, id, url, host, body, secret_of, created_at, state)
     SELECT subject, last_sequence, id, url, host, body, secret_of, now(),
            CASE WHEN url IS NULL THEN 'no-url' WHEN gone_url = url THEN 'gone' ELSE 'waiting' END
       FROM put JOIN told USING (subject)
     RETURNING state = 'waiting' AS "isWaiting"`,
    [
      ordered.map(({ subject }) => subject),
      ordered.map(({ url }) => url),
      hosts,
      ordered.map(({ secretOf }) => secretOf ?? null),
      ordered.map(() => messageId()),
      ordered.map(({ body }) => Buffer.from(JSON.stringify(body))),
    ],
  );
  if (rows.some(({ isWaiting }) => isWaiting)) await tx.query(`SELECT pg_notify('${webhooksChannel}', '')`);
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
  // what is being tried now is marked by who tries it, who then goes on with the first one that waits
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
