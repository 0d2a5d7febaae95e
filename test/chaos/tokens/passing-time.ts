import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import type { RuneBuyer } from './rune-buyers.ts';

const againMs = 200;

/** One query, or several in one transaction, of a superuser: the database may be down. */
type Query = (text: string) => Promise<pg.QueryResultRow[]>;

type PassingOrder = Pick<RuneBuyer, 'id' | 'tokenOrder' | 'chargeScript' | 'tokenScript'>;

/**
 * Lets a day pass for an order of items: its times, and those of its token order and of its payments, become a day
 * older. Payments that came in time stay so, and later ones are late. It may be done twice. False: one of its payments
 * has not been seen, and nothing is done.
 *
 * @param payments txids of payments that must have been seen
 */
export async function passDay(
  query: Query,
  order: PassingOrder,
  payments: readonly string[],
): Promise<boolean> {
  const scripts = [order.chargeScript, order.tokenScript].map((script) => `'\\x${script}'::bytea`).join();
  const seen = await untilDone(() =>
    query(`SELECT encode(txid, 'hex') AS txid, vout FROM service.payments_seen WHERE script IN (${scripts})`),
  );
  const txids = new Set(seen.map(({ txid }) => Buffer.from(String(txid), 'hex').reverse().toString('hex')));
  if (payments.some((txid) => !txids.has(txid))) return false;
  // one by one: a process that writes several of them waits for none that is locked here
  for (const { txid, vout } of seen)
    await untilDone(() =>
      query(
        `UPDATE service.payments_seen SET first_seen = first_seen - interval '1 day', gone_at = gone_at - interval '1 day'
          WHERE txid = '\\x${txid}' AND vout = ${vout}`,
      ),
    );
  // locked as the service locks them; credits are written under the lock of their token order
  await untilDone(() =>
    query(
      `SELECT FROM service.orders WHERE id = '${order.id}' FOR UPDATE;
       SELECT FROM service.token_orders WHERE id = '${order.tokenOrder}' FOR UPDATE;
       UPDATE service.token_credits SET first_seen = first_seen - interval '1 day' WHERE order_id = '${order.tokenOrder}';
       UPDATE service.token_orders SET created_at = created_at - interval '1 day', expires_at = expires_at - interval '1 day',
              ends_at = ends_at - interval '1 day',
              look_at = CASE WHEN state = 'pending' THEN created_at - interval '1 day' END
        WHERE id = '${order.tokenOrder}';
       UPDATE service.orders SET created_at = created_at - interval '1 day', expires_at = expires_at - interval '1 day',
              look_at = now() WHERE id = '${order.id}'`,
    ),
  );
  return true;
}

/** Ends the time of an order of a shop some seconds ago: the node notes the seconds at which it has a payment. */
export async function endTime(query: Query, id: string): Promise<void> {
  // whole milliseconds, as the service stores them
  const end = `date_trunc('milliseconds', now() - interval '10 seconds')`;
  const over = `UPDATE service.token_orders SET created_at = ${end} - interval '1 hour', expires_at = ${end},
      ends_at = ${end}, look_at = now() WHERE id = '${id}'`;
  await untilDone(() => query(over));
}

/** A database that is down may have done it, or not. */
async function untilDone<Done>(work: () => Promise<Done>): Promise<Done> {
  for (;;) {
    try {
      return await work();
    } catch {
      await delay(againMs);
    }
  }
}
