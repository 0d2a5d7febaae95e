import type { lookup as lookUp } from 'node:dns';
import type pg from 'pg';
import { withTransaction } from '#kernel/pg/transaction.ts';
import { OutgoingHttp } from '#outgoing/outgoing-http.ts';
import type { TestDatabase } from '#test/support/database.ts';
import { silentLogger } from '#test/support/http-app.ts';
import { type DeliverWebhooksOptions, deliverWebhooks } from '#webhooks/deliver-webhooks.ts';
import { WebhookKeys } from '#webhooks/webhook-keys.ts';

/** Resolves every name to this machine. */
export const everyNameIsHere = ((
  _name: string,
  options: { all?: boolean },
  callback: (...given: unknown[]) => void,
) => {
  if (options.all === true) callback(null, [{ address: '127.0.0.1', family: 4 }]);
  else callback(null, '127.0.0.1', 4);
}) as unknown as typeof lookUp;

export const testKeys = new WebhookKeys(Buffer.alloc(32, 1));

/** A sender of webhooks, with a clock that a test controls. */
export interface Sending {
  /** Moves the clock forward, and wakes the sender. */
  pass(this: void, milliseconds: number): Promise<void>;
  stop(this: void): Promise<void>;
}

export function startSending(
  database: TestDatabase,
  {
    aheadMs: aheadAtFirst = 0,
    ...options
  }: Partial<Pick<DeliverWebhooksOptions, 'http' | 'keys' | 'onTry' | 'onProblem'>> & {
    readonly aheadMs?: number;
  } = {},
): Sending {
  const controller = new AbortController();
  const http = new OutgoingHttp({ allowPrivate: true, lookup: everyNameIsHere });
  let aheadMs = aheadAtFirst;
  const running = deliverWebhooks({
    url: database.url,
    http,
    keys: () => Promise.resolve(testKeys),
    userAgent: 'satscribe/0.0.0-test',
    log: silentLogger(),
    ...options,
    signal: controller.signal,
    // always the middle of a pause's random range
    clock: { aheadMs: () => aheadMs, random: () => 0.5 },
  });
  return {
    pass: async (milliseconds) => {
      aheadMs += milliseconds;
      await database.pool.query("SELECT pg_notify('satscribe_webhooks', '')");
    },
    stop: async () => {
      controller.abort();
      await running;
      await http.close();
    },
  };
}

export const within = <T>(database: TestDatabase, work: (tx: pg.ClientBase) => Promise<T>): Promise<T> =>
  withTransaction(database.pool, work);
