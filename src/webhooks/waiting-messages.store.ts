import type pg from 'pg';
import { withTransaction } from '#kernel/pg/transaction.ts';

/** The last waiting message of a subject. No process has tried this message yet. */
export interface LastWaiting {
  readonly subject: string;
  readonly sequence: number;
  /** The JSON as it is stored. */
  readonly body: string;
}

/**
 * Locks subjects, and reads the last waiting message of each subject that has at least `least` waiting messages. Such a
 * message can still be changed until the transaction ends. A message that was ever tried is left out, because its
 * receiver may know it, and a receiver ignores a message with a known id.
 */
export async function lockLastWaiting(
  tx: pg.ClientBase,
  subjects: readonly string[],
  least: number,
): Promise<LastWaiting[]> {
  // in the order of `putWebhooksOf`, so that transactions cannot deadlock
  const { rows: locked } = await tx.query<{ subject: string }>(
    `SELECT subject FROM service.webhook_subjects WHERE subject = ANY($1) AND head_sequence IS NOT NULL
      ORDER BY subject COLLATE "C" FOR UPDATE`,
    [subjects],
  );
  if (locked.length === 0) return [];
  // use a separate statement, because the statement above sees the messages of the time before the locks
  const { rows } = await tx.query<LastWaiting>(
    `SELECT subject, last.sequence, convert_from(last.body, 'UTF8') AS body
       FROM service.webhook_subjects AS known
       CROSS JOIN LATERAL (SELECT sequence, body, tried_at FROM service.webhooks
                            WHERE subject = known.subject AND state = 'waiting' ORDER BY sequence DESC LIMIT 1) AS last
      WHERE subject = ANY($1) AND last.sequence > head_sequence AND last.tried_at IS NULL
        AND $2 <= (SELECT count(*) FROM (SELECT FROM service.webhooks
                    WHERE subject = known.subject AND state = 'waiting' LIMIT $2) AS waiting)`,
    [locked.map(({ subject }) => subject), least],
  );
  return rows;
}

/** Replaces the bodies of messages that `lockLastWaiting` has read in the same transaction. */
export async function changeWaiting(
  tx: pg.ClientBase,
  messages: readonly (Omit<LastWaiting, 'body'> & { readonly body: object })[],
): Promise<void> {
  if (messages.length === 0) return;
  await tx.query(
    `UPDATE service.webhooks AS changed SET body = given.body
       FROM unnest($1::text[], $2::bigint[], $3::bytea[]) AS given (subject, sequence, body)
      WHERE changed.subject = given.subject AND changed.sequence = given.sequence`,
    [
      messages.map(({ subject }) => subject),
      messages.map(({ sequence }) => sequence),
      messages.map(({ body }) => Buffer.from(JSON.stringify(body))),
    ],
  );
}

/** Subjects with waiting messages. Only subjects that begin with one of the words are read. */
export async function readWaitingSubjects(
  client: pg.Pool | pg.ClientBase,
  words: readonly string[],
): Promise<string[]> {
  const { rows } = await client.query<{ subject: string }>(
    `SELECT subject FROM service.webhook_subjects
      WHERE due_at IS NOT NULL AND split_part(subject, ' ', 1) = ANY($1)`,
    [words],
  );
  return rows.map(({ subject }) => subject);
}

/**
 * Deletes messages by their sequences, except messages that wait. Used for subjects whose messages are kept for less
 * time than others.
 */
export async function deleteSettled(
  tx: pg.ClientBase,
  messages: readonly Pick<LastWaiting, 'subject' | 'sequence'>[],
): Promise<void> {
  if (messages.length === 0) return;
  await tx.query(
    `DELETE FROM service.webhooks AS settled USING unnest($1::text[], $2::bigint[]) AS given (subject, sequence)
      WHERE settled.subject = given.subject AND settled.sequence = given.sequence AND settled.state <> 'waiting'`,
    [messages.map(({ subject }) => subject), messages.map(({ sequence }) => sequence)],
  );
}

/**
 * Deletes the waiting messages of subjects, because no one wants these messages any more. A message that is being sent
 * now may still arrive.
 */
export async function deleteWaiting(
  client: pg.Pool | pg.ClientBase,
  subjects: readonly string[],
): Promise<void> {
  if (subjects.length === 0) return;
  await withTransaction(client, async (tx) => {
    await tx.query(
      `SELECT FROM service.webhook_subjects WHERE subject = ANY($1) ORDER BY subject COLLATE "C" FOR UPDATE`,
      [subjects],
    );
    await tx.query(`DELETE FROM service.webhooks WHERE subject = ANY($1) AND state = 'waiting'`, [subjects]);
    await tx.query(
      `UPDATE service.webhook_subjects SET head_sequence = NULL, host = NULL, due_at = NULL, taken_by = NULL
        WHERE subject = ANY($1)`,
      [subjects],
    );
  });
}
