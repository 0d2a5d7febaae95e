import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { auditOrders } from '#orders/audit/audit-orders.ts';
import type { RegtestChain } from '#test/builders/regtest/regtest-chain.ts';
import { auditFaults, readSales } from '#test/chaos/orders/item-watch.ts';
import { endedSaleFaults, saleFaults } from '#test/chaos/orders/items-verdict.ts';
import type { Shop } from '#test/chaos/orders/shop.ts';
import { ChainMoney } from '#test/support/orders/money-on-chain.ts';
import { openOrders } from '#test/support/orders/open-orders.ts';
import { type OrderVerdict, verdictOfOrder } from '#test/support/orders/order-verdict.ts';
import { areOrdersFollowed } from '#test/support/orders/orders-followed.ts';
import type { PassDay, RuneBuyer, RuneBuyers } from './rune-buyers.ts';
import type { RuneChain } from './rune-chain.ts';
import { addUnits, type Units } from './rune-model.ts';
import type { RunRune } from './rune-purse.ts';
import { type Delivery, deliveryOf, gainOfSale, type SaleOutput, saleEndFaults } from './sale-model.ts';
import { type ShownOrder, shownEnd } from './shown-end.ts';
import { balanceKey } from './tokens-verdict.ts';

export interface EndedBuyers {
  readonly pool: pg.Pool;
  readonly chain: RegtestChain;
  readonly shop: Shop;
  readonly buyers: RuneBuyers;
  readonly model: RuneChain;
  readonly runes: readonly RunRune[];
  /** Lets a day pass for an order. */
  readonly passDay: PassDay;
}

/** Results of all orders of items that are sold for runes. */
export interface BuyersEnd {
  readonly faults: readonly string[];
  /** Gains of creators, by account and token. */
  readonly gains: ReadonlyMap<string, bigint>;
  readonly delivered: number;
  /** Number of orders whose time had ended, and whose sats were refunded. */
  readonly refunded: number;
  /** Number of orders that were not delivered, because the rune came without the sats. */
  readonly runesAlone: number;
  /** Number of items that buyers have. */
  readonly sold: number;
}

const settledWithinMs = 300_000;
const lookMs = 700;

/** An order, with the model's statements about it on the final chain. */
interface ModelledSale {
  readonly buyer: RuneBuyer;
  readonly delivery: Delivery;
  readonly outputs: readonly SaleOutput[];
}

/**
 * Ends the time of all orders that are not due, and mines until no order waits, except for people. An order that still
 * waits for something else is a difference. All payments are in blocks.
 */
export async function settleBuyers(run: EndedBuyers): Promise<string[]> {
  const { pool, chain, buyers, passDay } = run;
  let open: string[] = [];
  for (const until = Date.now() + settledWithinMs; Date.now() < until; await delay(lookMs)) {
    // do not mine a block in each round, because there would always be a block that is not followed yet
    if (open.length > 0) await chain.mineMempool();
    const pending = await pendingOf(pool);
    for (const { buyer, delivery } of await modelledSales(run)) {
      if (delivery === 'due' || pending.get(buyer.id) !== 'running') continue;
      await passDay(buyer, []);
      buyer.isOver = true;
    }
    open = await openOrders(pool, buyers.dustOf);
    for (const id of (await pendingOf(pool)).keys())
      open.push(`the token order of the sale ${id} is still pending`);
    if (open.length === 0 && (await areOrdersFollowed(pool, chain.rpc))) return [];
  }
  return open;
}

/** Orders of items whose token orders are pending. The value says whether their time is over. */
async function pendingOf(pool: pg.Pool): Promise<ReadonlyMap<string, 'running' | 'over'>> {
  const { rows } = await pool.query<{ id: string; time: 'running' | 'over' }>(
    `SELECT f.order_id AS id, CASE WHEN o.ends_at > now() - interval '2 minutes' THEN 'running' ELSE 'over' END AS time
       FROM service.token_order_fees AS f JOIN service.token_orders AS o ON o.id = f.token_order
      WHERE o.state = 'pending'`,
  );
  return new Map(rows.map(({ id, time }) => [id, time]));
}

async function modelledSales({ chain, buyers, model }: EndedBuyers): Promise<ModelledSale[]> {
  const best = await chain.rpc.call<string>('getbestblockhash');
  const { made } = await model.stateAt(best);
  const scripts = new Set(buyers.all.flatMap(({ chargeScript, tokenScript }) => [chargeScript, tokenScript]));
  const outputs = Map.groupBy(await model.outputsTo(best, scripts), ({ script }) => script);
  return buyers.all.map((buyer) => {
    const paid = [buyer.chargeScript, buyer.tokenScript].flatMap((script) => outputs.get(script) ?? []);
    const of = paid.map((output): SaleOutput => {
      const sent = buyer.sent.get(output.outpoint.split(':')[0]!);
      if (sent === undefined) throw new Error(`no buyer sent ${output.outpoint}`);
      return { ...output, runes: made.get(output.outpoint) ?? new Map(), isLate: sent.isLate };
    });
    return { buyer, delivery: deliveryOf(buyer, of, [...buyer.sent.values()]), outputs: of };
  });
}

/** Compares orders of items with the model, the chain and their ledgers. */
export async function endsOfBuyers(run: EndedBuyers): Promise<BuyersEnd> {
  const { pool, chain, shop, runes } = run;
  const money = await ChainMoney.read(chain.rpc);
  const gains = new Map<string, bigint>();
  const faults: string[] = [];
  const ends: (ModelledSale & { readonly verdict: OrderVerdict; readonly gain: Units })[] = [];
  for (const sale of await modelledSales(run)) {
    const { buyer, delivery, outputs } = sale;
    const { id, receiver, refund, tokenOrder } = buyer;
    const of = { id, contents: [], receivers: [receiver], refund };
    const verdict = await verdictOfOrder(pool, money, of);
    const { isDelivered } = verdict;
    const shown = await shop.ask<ShownOrder>(`/tokenpay/order/${tokenOrder}`, null);
    const { state, received } = shownEnd(shown.body, runes);
    const wanted = gainOfSale(buyer, outputs);
    faults.push(...verdict.faults);
    faults.push(...saleEndFaults(buyer, { state, received, isDelivered }, { ...wanted, delivery }));
    for (const [token, amount] of wanted.gain) addUnits(gains, balanceKey(buyer.account, token), amount);
    ends.push({ ...sale, verdict, gain: wanted.gain });
  }
  faults.push(...(await soldFaults(run, ends)));
  const isAlone = ({ verdict, gain, buyer: { rune } }: (typeof ends)[number]): boolean =>
    !verdict.isDelivered && verdict.fate.paid === 0 && (gain.get(rune) ?? 0n) > 0n;
  return {
    faults,
    gains,
    delivered: ends.filter(({ verdict }) => verdict.isDelivered).length,
    refunded: ends.filter(({ buyer, verdict }) => buyer.isOver && verdict.fate.refunded > 0).length,
    runesAlone: ends.filter(isAlone).length,
    sold: ends.reduce((sum, { buyer, verdict }) => sum + (verdict.isDelivered ? buyer.items.length : 0), 0),
  };
}

/** Faults of items, counters and ledgers, according to the rows, to the index, and to the audits of the service. */
async function soldFaults(
  { pool, chain, buyers }: EndedBuyers,
  ends: readonly { readonly buyer: RuneBuyer; readonly verdict: OrderVerdict }[],
): Promise<string[]> {
  const ofItems = ends.map(({ buyer: { id, collection, items }, verdict: { isDelivered } }) => {
    return { order: id, collection, numbers: items, isDelivered };
  });
  const seen = await readSales(pool, buyers.sales);
  const { differences } = await auditOrders({ database: pool, node: chain.rpc });
  const { rows } = await pool.query<{ count: number }>('SELECT count(*)::int AS count FROM service.orders');
  const stored = rows[0]?.count;
  return [
    ...seen.flatMap((sale) => [...saleFaults(sale), ...endedSaleFaults(sale, ofItems)]),
    ...(await auditFaults(pool)),
    ...differences.map(
      ({ order: { id }, kind, where, ledger, chain: there }) =>
        `audit: ${id} ${kind} ${where}: ${ledger} and ${there}`,
    ),
    ...(stored === ends.length ? [] : [`${ends.length} sales were made, and ${stored} are stored`]),
  ];
}
