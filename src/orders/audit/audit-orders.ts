import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { withTransaction } from '#kernel/pg/transaction.ts';
import { readFundCoins } from '#orders/funds/fund-coins.queries.ts';
import { readFundsListed } from '#purse/coins/coins.store.ts';
import { readCoinsFill } from '#purse/coins/coins-fill.store.ts';
import { readEntries, readHoldings } from '#purse/ledger/ledger.store.ts';
import { type LedgerAccount, satsByAccount } from '#purse/ledger/ledger.ts';
import { outpointOf } from '#purse/transactions/outpoint.ts';
import { atOneBlock, type ComparedParts, snapshot } from './at-one-block.ts';
import { nextOrderIds, readAuditedOrders } from './audit.queries.ts';
import { type AuditedFunds, auditFunds, questionsOfFunds } from './audit-funds.ts';
import { auditOrder, questionsOf } from './audit-order.ts';
import type { NamedOrder, OrderDifference } from './audited-order.ts';

/** A difference, and the order to which it belongs. */
export interface AuditDifference extends OrderDifference {
  readonly order: NamedOrder;
}

export interface Audit {
  readonly orders: number;
  /** Number of orders with a difference. */
  readonly differing: number;
  /** Sats of each account. `outside` is negative, because the sum of all accounts is 0. */
  readonly balances: readonly { readonly account: LedgerAccount; readonly sats: bigint }[];
  /** Differences of the first orders that differ, at most `toldMax` orders. */
  readonly differences: readonly AuditDifference[];
  /** Differences of the funds of the operator. */
  readonly funds: readonly OrderDifference[];
}

export interface AuditParts extends ComparedParts {
  /** Waits between two pages. Receives the time that the last page took, in ms. */
  readonly rest?: (workedMs: number) => Promise<void>;
  /** Maximum number of times that an order that differs is checked again. The order may be in the middle of a step. */
  readonly looks?: number;
}

/** Maximum number of orders whose differences are listed. All orders that differ are counted. */
const toldMax = 1000;
/**
 * Maximum number of orders that are checked again. Fewer orders are in the middle of a step at the same time, so
 * further orders really differ.
 */
const lookedAgainMax = 10_000;
/** Usual maximum number of repeated checks. After a new block, processing all orders takes seconds. */
export const looksUsual = 6;
export const lookAgainMs = 2_000;
/**
 * Pause between checks after the first `looksUsual` checks, in ms. It is longer, because processing all orders may take
 * long if 50 MB are sent, or if the node is asked about a thousand transactions.
 */
const lookLaterMs = 30_000;

/**
 * Compares the ledger of all orders with the chain and the index, page by page. Each page is compared at a block that
 * the index, the payments and the node have all reached. An order that differs is checked again. Changes nothing.
 * Throws `audit_impossible` if index, payments and node do not reach the same block in time, and the codes of NodeRpc.
 */
export async function auditOrders(parts: AuditParts): Promise<Audit> {
  const { orders, suspects } = await auditAll(parts);
  const differences = await auditAgain(parts, suspects.slice(0, lookedAgainMax));
  const differing = [...new Set(differences.map(({ order }) => order.id))];
  const told = new Set(differing.slice(0, toldMax));
  const funds = await auditFundsAgain(parts);
  return {
    orders,
    differing: differing.length + Math.max(0, suspects.length - lookedAgainMax),
    balances: [...satsByAccount(await withTransaction(parts.database, readHoldings, snapshot))].map(
      ([account, sats]) => ({ account, sats }),
    ),
    differences: differences.filter(({ order }) => told.has(order.id)),
    funds,
  };
}

/** Checks each order once. Counts all orders, and collects the ids of orders that differ. */
async function auditAll(parts: AuditParts): Promise<{ orders: number; suspects: string[] }> {
  const { database, signal, rest } = parts;
  const suspects = new Set<string>();
  let orders = 0;
  for (let after: string | null = null; ; ) {
    signal?.throwIfAborted();
    const startedAt = performance.now();
    const from: string | null = after;
    const ids: string[] = await withTransaction(database, (tx) => nextOrderIds(tx, from), snapshot);
    after = ids.at(-1) ?? null;
    if (after === null) return { orders, suspects: [...suspects] };
    orders += ids.length;
    for (const { order } of await auditPage(parts, ids)) suspects.add(order.id);
    await rest?.(performance.now() - startedAt);
  }
}

/** Checks again, up to `looks` times, the orders that had a difference. Returns the differences that remain. */
async function auditAgain(parts: AuditParts, suspects: readonly string[]): Promise<AuditDifference[]> {
  const { signal, looks = looksUsual } = parts;
  let differing = suspects;
  let differences: AuditDifference[] = [];
  for (let look = 0; look < looks && differing.length > 0; look++) {
    const pauseMs = look < looksUsual ? lookAgainMs : lookLaterMs;
    if (look > 0) await sleep(pauseMs, undefined, signal === undefined ? {} : { signal });
    differences = await auditSome(parts, differing);
    differing = [...new Set(differences.map(({ order }) => order.id))];
  }
  return differences;
}

/** Maximum number of orders in one page of a repeated check. */
const someAtOnce = 100;

async function auditSome(parts: AuditParts, ids: readonly string[]): Promise<AuditDifference[]> {
  const differences: AuditDifference[] = [];
  for (let at = 0; at < ids.length; at += someAtOnce)
    differences.push(...(await auditPage(parts, ids.slice(at, at + someAtOnce))));
  return differences;
}

/** Checks the operator's funds until they match the chain, or until the maximum number of checks is reached. */
async function auditFundsAgain(parts: AuditParts): Promise<OrderDifference[]> {
  const { database, signal, looks = looksUsual } = parts;
  let differences: OrderDifference[] = [];
  const { coins, entries, listed } = await withTransaction(database, readFunds, snapshot);
  if (coins.length === 0 && entries.length === 0 && (listed?.size ?? 0) === 0) return [];
  for (let look = 0; look < Math.max(1, Math.min(looks, looksUsual)); look++) {
    if (look > 0) await sleep(lookAgainMs, undefined, signal === undefined ? {} : { signal });
    const { read, unspent } = await atOneBlock(parts, readFunds, questionsOfFunds);
    differences = auditFunds(read, unspent);
    if (differences.length === 0) break;
  }
  return differences;
}

const readFunds = async (tx: pg.ClientBase): Promise<AuditedFunds> => ({
  coins: await readFundCoins(tx),
  entries: await readEntries(tx, { kind: 'funds' }),
  listed: (await readCoinsFill(tx)).isComplete ? new Set((await readFundsListed(tx)).map(outpointOf)) : null,
});

async function auditPage(parts: AuditParts, ids: readonly string[]): Promise<AuditDifference[]> {
  const { read, unspent } = await atOneBlock(
    parts,
    (tx) => readAuditedOrders(tx, ids),
    (orders) => orders.flatMap(questionsOf),
  );
  return read.flatMap((order) => {
    const { id, kind, state, amount, createdAt } = order;
    const named = { id, kind, state, amount, createdAt };
    return auditOrder(order, unspent).map((difference) => ({ ...difference, order: named }));
  });
}
