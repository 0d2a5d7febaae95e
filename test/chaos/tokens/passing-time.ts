import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import type { RuneBuyer } from './rune-buyers.ts';

const againMs = 200;

/** Runs one query, or several in one transaction, as a superuser. The database may be down. */
type Query = (text: string) => Promise<pg.QueryResultRow[]>;

type PassingOrder = Pick<RuneBuyer, 'id' | 'tokenOrder' | 'chargeScript' | 'tokenScript'>;

/**
 * Lets a day pass for an order of items: the times of the order, of its token order, and of its payments become a day
 * older. Payments that came in time stay in time, and later payments are late. If the database fails, a day may pass
 * twice. Returns false, and does nothing, if one of the payments has not been seen.
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
  // update payments one by one, because a process that writes several payments must not wait for a payment that is
  // locked here
  for (const { txid, vout } of seen)
    await untilDone(() =>
      query(
        `UPDATE service.payments_seen SET first_seen = first_seen - interval '1 day', gone_at = gone_at - interval '1 day'
          WHERE txid = '\\x${txid}' AND vout = ${vout}`,
      ),
    );
  // lock the rows as the service locks them; credits are written under the lock of their token order
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

/** Ends the time of a shop's order some seconds ago, because the node notes arrivals of payments in whole seconds. */
export async function endTime(query: Query, id: string): Promise<void> {
  // whole milliseconds, as the service stores them
  const end = `date_trunc('milliseconds', now() - interval '10 seconds')`;
  const over = `UPDATE service.token_orders SET created_at = ${end} - interval '1 hour', expires_at = ${end},
      ends_at = ${end}, look_at = now() WHERE id = '${id}'`;
  await untilDone(() => query(over));
}

/** Repeats work until the database confirms it. A database that is down may have done the work, or not. */
async function untilDone<Done>(work: () => Promise<Done>): Promise<Done> {
  for (;;) {
    try {
      return await work();
    } catch {
      await delay(againMs);
    }
  }
}
