import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { countWithin } from '#kernel/satributes/rule-ranges.ts';
import { SatributeBook } from '#kernel/satributes/satribute-book.ts';
import { auditOrders } from '#orders/audit/audit-orders.ts';
import type { RegtestChain } from '#test/builders/regtest/regtest-chain.ts';
import { firstsOf, sequenceOf, toldMessages } from '#test/chaos/checks/told-messages.ts';
import { ChainMoney } from '#test/support/orders/money-on-chain.ts';
import { openOrders } from '#test/support/orders/open-orders.ts';
import { type OrderVerdict, verdictOfOrder } from '#test/support/orders/order-verdict.ts';
import { areOrdersFollowed } from '#test/support/orders/orders-followed.ts';
import type { Receiver } from '#test/support/webhooks/receiver.ts';
import type { Customers } from './customers.ts';
import { sales } from './item-sale.ts';
import { auditFaults, readSales } from './item-watch.ts';
import { endedSaleFaults, saleFaults } from './items-verdict.ts';
import { mintFaults } from './mints-verdict.ts';
import { nameFaults } from './name-rivals.ts';
import { payoutFaults } from './partners.ts';
import { strayStock } from './stray-stock.ts';

export interface RunEnd {
  readonly orders: number;
  readonly delivered: number;
  readonly refunded: number;
  /** Number of items that buyers have, for each collection. */
  readonly sold: readonly number[];
  /** Sats. */
  readonly lost: number;
  readonly differences: readonly string[];
}

export interface EndedRun {
  readonly pool: pg.Pool;
  readonly chain: RegtestChain;
  readonly customers: Customers;
  readonly receiver: Receiver;
  readonly say: (words: string) => void;
}

const settledWithinMs = 240_000;
const lookMs = 700;

/** Waits until all orders have ended, and compares their outcomes with the chain. */
export async function verdictOfRun(run: EndedRun): Promise<RunEnd> {
  const { pool, chain, customers, say } = run;
  const open = await settle(run);
  say('all orders have ended');
  const told = await toldOf(run);
  const money = await ChainMoney.read(chain.rpc);
  const verdicts: OrderVerdict[] = [];
  for (const customer of customers.all) verdicts.push(await verdictOfOrder(pool, money, customer));
  const { differences } = await auditOrders({ database: pool, node: chain.rpc });
  const { rows } = await pool.query<{ count: number }>('SELECT count(*)::int AS count FROM service.orders');
  const stored = rows[0]?.count ?? 0;
  const seen = await readSales(pool, sales);
  const ofItems = customers.all.flatMap(({ id, items }, place) =>
    items === null ? [] : [{ order: id, ...items, isDelivered: verdicts[place]!.isDelivered }],
  );
  const made = customers.all.length;
  return {
    orders: made,
    delivered: verdicts.filter(({ isDelivered }) => isDelivered).length,
    refunded: verdicts.filter(({ fate }) => fate.refunded > 0).length,
    sold: seen.map(({ inscribed }) => inscribed.size),
    lost: verdicts.reduce((sum, { lost }) => sum + lost, 0),
    differences: [
      ...open,
      ...verdicts.flatMap(({ faults }) => faults),
      ...(await payoutFaults(
        pool,
        money,
        customers.all.filter((_, place) => verdicts[place]!.isDelivered),
      )),
      ...(await strayParents(pool, money, customers)),
      ...differences.map(
        ({ order: { id }, kind, where, ledger, chain: there }) =>
          `audit: ${id} ${kind} ${where}: ${ledger} and ${there}`,
      ),
      ...(stored === made ? [] : [`${made} orders were made, and ${stored} are stored`]),
      ...(await misplacedOf(pool, customers)),
      ...(await strayStock(pool)),
      ...(await nameFaults(pool, customers.all, verdicts)),
      ...(await mintFaults(pool, customers.all, verdicts)),
      ...seen.flatMap((sale) => [...saleFaults(sale), ...endedSaleFaults(sale, ofItems)]),
      ...(await auditFaults(pool)),
      ...told,
    ],
  };
}

/** Inscriptions on sats that their orders do not allow, according to the index of sats. */
async function misplacedOf(pool: pg.Pool, { all }: Customers): Promise<string[]> {
  const satributes = new SatributeBook('regtest');
  const found: string[] = [];
  for (const { id, contents, allowed } of all) {
    if (allowed === null) continue;
    const rules = allowed.flatMap((name) => satributes.find(name)?.rule ?? []);
    const { rows } = await pool.query<{ sat: string | null }>(
      `SELECT s.sat::text FROM chain.contents AS c JOIN chain.inscriptions AS i USING (content_id)
         LEFT JOIN chain.sats AS s USING (key) WHERE c.body = ANY($1::bytea[])`,
      [contents.map((content) => Buffer.from(content))],
    );
    for (const { sat } of rows) {
      const start = Number(sat);
      const isAllowed =
        sat !== null && rules.some((rule) => countWithin(rule, { start, end: start + 1 }) > 0);
      if (!isAllowed)
        found.push(`${id} is inscribed on the sat ${sat}, which is not ${allowed.join(' or ')}`);
    }
  }
  return found;
}

/** Parents that are not with their owners, and were not returned completely. */
async function strayParents(pool: pg.Pool, money: ChainMoney, { all }: Customers): Promise<string[]> {
  const found: string[] = [];
  for (const { id, parent, parents } of all) {
    if (parent === null || parents === undefined) continue;
    const { txid, vout, value } = parent.coin;
    if (money.spenderOf(`${txid}:${vout}`) === null) continue;
    const returned = money.paidTo(parents.home).map((output) => output.value);
    if (returned.join() !== String(value))
      found.push(`${id} was lent ${value} sats with a parent, and returns ${returned.join(', ')}`);
    const { rows } = await pool.query<{ script: Buffer }>(
      `SELECT l.script FROM chain.inscriptions AS i CROSS JOIN LATERAL (
         SELECT * FROM chain.locations AS l WHERE l.key = i.key ORDER BY l.height DESC, l.step DESC LIMIT 1) AS l
        WHERE i.txid = $1`,
      [Buffer.from(txid, 'hex').reverse()],
    );
    if (rows[0]?.script.toString('hex') !== parents.home) found.push(`${id} does not return its parent`);
  }
  return found;
}

/** Mines until no order waits, except for people. An order that still waits for something else is a difference. */
async function settle({ pool, chain, customers }: EndedRun): Promise<string[]> {
  await customers.sendAgain(1);
  let open: string[] = [];
  await chain.mineMempool();
  for (const until = Date.now() + settledWithinMs; Date.now() < until; await delay(lookMs)) {
    // do not mine a block in each round, because there would always be a block that is not followed yet
    if (open.length > 0) await chain.mineMempool();
    await pool.query(
      `UPDATE service.orders SET expires_at = now(), look_at = now() WHERE state IN ('waiting-payment', 'waiting-parent') AND expires_at > now()`,
    );
    open = await openOrders(pool, customers.dustOf);
    const { rows: payouts } = await pool.query<{ id: string; state: string; stuck: string | null }>(
      `SELECT id, state, stuck FROM service.payouts WHERE state IN ('asked', 'signed', 'sent')`,
    );
    open.push(
      ...payouts.map(({ id, state, stuck }) => `the payout ${id} is still ${state}, ${stuck ?? 'not stuck'}`),
    );
    if (open.length === 0 && (await areOrdersFollowed(pool, chain.rpc))) return [];
  }
  return open;
}

/**
 * Checks that each message was received, that an order's messages arrived in their order, and that the last message has
 * the order's present state.
 */
async function toldOf({ pool, customers, receiver }: EndedRun): Promise<string[]> {
  const { byTarget, lastOf } = await toldMessages(pool, receiver);
  const found: string[] = [];
  for (const [number, { id }] of customers.all.entries()) {
    const first = firstsOf(byTarget.get(`/${number}`) ?? []).map(sequenceOf);
    const wanted = Array.from({ length: lastOf.get(`order ${id}`) ?? 0 }, (_, place) => place + 1);
    if (first.join() !== wanted.join()) found.push(`${id} told ${first.join()} and not ${wanted.join()}`);
  }
  return found;
}
