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
      bodies.map(() => `msg_${randomUUID().replaceAll('-', '')}`),
      bodies.map((body) => Buffer.from(JSON.stringify(body))),
    ],
  );
  if (state === 'waiting') await tx.query(`SELECT pg_notify('${webhooksChannel}', '')`);
  return first;
}

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
