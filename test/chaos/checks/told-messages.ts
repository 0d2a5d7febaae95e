import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import type { Received, Receiver } from '#test/support/webhooks/receiver.ts';

/**
 * How long to wait for all messages, in ms. If a sender was killed, its message is sent again after the lease of a
 * minute.
 */
const toldWithinMs = 150_000;
const lookMs = 700;

/** Messages that a receiver got, by the path of its URL. `lastOf` is the last sequence number of each subject. */
export interface ToldMessages {
  readonly byTarget: ReadonlyMap<string, readonly Received[]>;
  readonly lastOf: ReadonlyMap<string, number>;
}

/** Waits until no message is left to send, and returns the received messages. */
export async function toldMessages(pool: pg.Pool, receiver: Receiver): Promise<ToldMessages> {
  for (const until = Date.now() + toldWithinMs; Date.now() < until; await delay(lookMs)) {
    const { rowCount } = await pool.query(`SELECT FROM service.webhooks WHERE state = 'waiting' LIMIT 1`);
    if (rowCount === 0) break;
  }
  const { rows } = await pool.query<{ subject: string; last: number }>(
    'SELECT subject, last_sequence::int AS last FROM service.webhook_subjects',
  );
  return {
    byTarget: Map.groupBy(receiver.received, ({ target }) => target),
    lastOf: new Map(rows.map(({ subject, last }) => [subject, last])),
  };
}

export const sequenceOf = ({ headers }: Received): number => Number(headers['x-satscribe-sequence']);

/** Received messages without repetitions, in the order in which they arrived. */
export function firstsOf(received: readonly Received[]): readonly Received[] {
  const seen = new Set<number>();
  return received.filter((message) => {
    const isFirst = !seen.has(sequenceOf(message));
    seen.add(sequenceOf(message));
    return isFirst;
  });
}
