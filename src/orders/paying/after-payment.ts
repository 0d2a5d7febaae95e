import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import type { RuneAmount } from '#kernel/contracts/holdings.ts';
import { asTxid, type Txid } from '#kernel/primitives/hash.ts';
import { asHeight, genesisHeight, type Height } from '#kernel/primitives/height.ts';
import type { SatributeBook } from '#kernel/satributes/satribute-book.ts';
import type { SatRange } from '#kernel/sats/sat-range.ts';
import {
  type DeliveryFunds,
  type Planning,
  planningOf,
  whyRunesUnknown,
} from '#orders/making/delivery-planning.ts';
import { type Planned, planDelivery, withBurns } from '#orders/making/plan-delivery.ts';
import { extraCostOf, missingSats, selectCoins } from '#orders/order/coin-selection.ts';
import type { Order } from '#orders/order/order.store.ts';
import type { HeldPayment } from '#orders/parents/held-payments.ts';
import { leastAt } from '#orders/parents/read-deposits.ts';
import { coinCosts } from '#orders/pricing/coin-costs.ts';
import type { QuotedPlan } from '#orders/pricing/quoted-layout.ts';
import { type CoinPayment, type KnownSats, placeSats } from '#orders/sats/place-sats.ts';
import type { WatchedPayment } from '#payments/payments.queries.ts';
import { outpointOf, outpointParts, shownTxidOf } from '#purse/transactions/outpoint.ts';
import { inscribedOutputs, type PlaceInOutput } from './inscribed-outputs.ts';
import { countedNow, type OpenOrder, type PayingCoin } from './open-order.ts';
import { type CameFor, spendPayments } from './spend-payments.ts';
import { unsentLeaves, unsentWallet } from './unsent-wallet.ts';

/** One transaction that pays for an order, but is not sent yet. */
export interface WantedPayment {
  /** Outputs to the address of the order. They hold only sats. */
  readonly coins: readonly Omit<PayingCoin, 'outpoint'>[];
  /** Parents that the transaction sends to their deposits, by number among the order's parents. */
  readonly parents?: ReadonlyMap<number, SentParent>;
}

export interface SentParent {
  /** Sats of the output at the parent's deposit. */
  readonly value: bigint;
  /** Runes in that output. Null if unknown. */
  readonly runes: readonly RuneAmount[] | null;
}

/** The sat on which a file is inscribed, and its coin. */
export interface InscribedSat {
  /** The coin that contains the sat. Null if the sat comes from the inventory. */
  readonly coin: PayingCoin | null;
  /** Number of sats of the coin before this sat. */
  readonly offset: bigint;
  /** Number of the sat. Null if the sats of the coin are unknown. */
  readonly sat: number | null;
}

/** The outcome of an order after a payment that is deep enough. */
export type PaymentOutcome =
  | {
      readonly kind: 'delivered';
      /** The coins that the delivery spends, in the sequence of spending. All other coins are refunded. */
      readonly spent: readonly PayingCoin[];
      /** One sat for each file, in the sequence of the files. */
      readonly inscribed: readonly InscribedSat[];
      /** Numbers of the parents that must still be sent. The order waits for them. */
      readonly parentsMissing: readonly number[];
      /**
       * Spent coins without a block. The prediction assumes that they are mined before the payment, which may turn out
       * wrong.
       */
      readonly unconfirmed: readonly PayingCoin[];
    }
  /**
   * The order still waits. `missing` is the number of sats that one more coin must bring. `extraCost` is the order's
   * cost beyond its quote.
   */
  | { readonly kind: 'short'; readonly missing: bigint; readonly extraCost: bigint }
  /**
   * Nothing is inscribed, and everything is refunded, because the payment does not have sats that the order allows.
   */
  | { readonly kind: 'refunded'; readonly reason: string }
  /** No transaction is possible, or the sats of a coin are unknown. */
  | { readonly kind: 'failed'; readonly reason: string };

/**
 * Predicts the outcome of an order with one more payment, by the functions that deliver orders. The outcome says which
 * coins are spent, in which sequence, and on which sat each file is inscribed. Other payments and reorganisations may
 * change this outcome. For an order with `allowedSatributes`, all coins need their `ranges`, including coins that
 * already arrived. Pure.
 */
export function afterPayment(
  open: OpenOrder,
  payment: WantedPayment,
  satributes: SatributeBook,
): PaymentOutcome {
  const dust = dustOf(open, payment);
  if (dust !== null) return { kind: 'failed', reason: dust };
  const [txid, ...others] = txidsFor(open, payment);
  if (others.length > txidsMax) return { kind: 'failed', reason: dependsOnTxid };
  const outcome = outcomeWith(open, { ...payment, txid }, satributes);
  const isSame = others.every((other) =>
    isDeepStrictEqual(outcomeWith(open, { ...payment, txid: other }, satributes), outcome),
  );
  return isSame ? outcome : { kind: 'failed', reason: dependsOnTxid };
}

/** The reason why a parent could not be returned. Null if all parents could be returned. */
function dustOf({ records }: OpenOrder, { parents = new Map() }: WantedPayment): string | null {
  for (const [index, { value }] of parents) {
    const least = leastAt(records.order.terms.parents[index]?.returnScript ?? '');
    if (value < least)
      return `Parent ${index + 1} has ${value} sats, but nodes relay at least ${least} sats to its return address.`;
  }
  return null;
}

/**
 * Txids of the payment: one before all present coins that it is compared with, and one after each of them. Among equal
 * coins, the txid decides which coin is spent, but the payment's txid is known only after signing. If the order wants
 * certain sats, coins are examined in the sequence of their txids. In all other cases one try is enough, which takes a
 * tenth of a second for 10,000 files.
 */
function txidsFor({ records, costs }: OpenOrder, { coins }: WantedPayment): readonly [Txid, ...Txid[]] {
  const values = new Set(coins.map(({ value }) => value));
  const alike = countedNow(records, records.order).filter(
    ({ value }) => costs.wantsSats || values.has(value),
  );
  const after = new Map(
    alike.map(({ outpoint }) => [shownTxidOf(outpoint), txidAfter(outpointParts(outpoint).txid)]),
  );
  return [firstTxid, ...after.values()];
}

/**
 * Maximum number of txids that are tried after the first one. Each try of an order of 10,000 files takes 0.1 seconds.
 */
const txidsMax = 100;

/** The next txid in the sequence of displayed txids. */
function txidAfter(txid: Txid): Txid {
  const next = Uint8Array.from(txid);
  // the first stored byte is the last displayed one
  for (let at = 0; at < next.length; at++) {
    next[at] = ((next[at] ?? 0) + 1) & 0xff;
    if (next[at] !== 0) break;
  }
  return asTxid(next);
}

const firstTxid = asTxid(new Uint8Array(32));

const dependsOnTxid =
  'The order already has similar coins, and the txid of the payment decides which of them is inscribed.';

interface UnsentPayment extends WantedPayment {
  readonly txid: Txid;
}

function outcomeWith(open: OpenOrder, payment: UnsentPayment, satributes: SatributeBook): PaymentOutcome {
  const came = cameFor(open, payment);
  let { order } = open.records;
  for (let tries = 0; tries < triesMax; tries++) {
    const tried = tryDelivery(order, open.plan, came, satributes);
    if (tried.kind === 'planned') return delivered(open, payment, came, tried);
    if (tried.kind !== 'dearer') return tried;
    assert(tried.extraCost > order.extraCost, 'an order is short of what it was found to cost');
    order = { ...order, extraCost: tried.extraCost };
  }
  throw new assert.AssertionError({ message: 'the cost of an order rises with each look' });
}

/** Maximum number of tries, each with other coins. It is the same number as in one round of `processOrder`. */
const triesMax = 10;

interface Came extends Omit<CameFor, 'facts' | 'parents'> {
  readonly facts: Omit<CameFor['facts'], 'costs'>;
  /** Coins that pay, by their outpoints in plans. */
  readonly coins: ReadonlyMap<string, PayingCoin>;
  readonly lent: DeliveryFunds['parents'];
  readonly stocked: DeliveryFunds['stocked'];
}

/** Placeholder txid of parents that must still be sent. No real transaction has it. */
const unsentParents = asTxid(new Uint8Array(32).fill(0xfe));

const onlySats: HeldPayment = {
  isIndexed: true,
  isHolding: false,
  isParent: false,
  inscriptions: [],
  runes: [],
};

/** The present coins and the coins of the payment, all assumed to be in deep blocks, with the payment last. */
function cameFor(open: OpenOrder, payment: UnsentPayment): Came {
  const { txid } = payment;
  const { order, now, tip, held, payments, stocked } = open.records;
  const above = (blocks: number): Height => asHeight((tip ?? genesisHeight) + blocks);
  const there = countedNow(open.records, order);
  const sent = payment.coins.map(
    ({ vout, value }): WatchedPayment => ({
      txid,
      vout,
      script: open.script,
      value,
      firstSeen: now,
      block: null,
      goneAt: null,
      replacedBy: null,
      change: 0,
    }),
  );
  const coins = new Map<string, PayingCoin>([
    ...open.coins.map((coin) => [coin.outpoint, coin] as const),
    ...payment.coins.map(
      (coin) => [outpointOf({ txid, vout: coin.vout }), { ...coin, outpoint: null }] as const,
    ),
  ]);
  const facts = sent.map((each) => ({
    outpoint: outpointOf(each),
    value: each.value,
    firstSeen: now,
    height: above(2),
    isGone: false,
    isTaken: false,
    isUsed: false,
    isInscribed: false,
  }));
  return {
    facts: {
      expiresAt: order.expiresAt,
      now,
      tip: above(2),
      confirmations: 1,
      payments: [...there.map((each) => ({ ...each, height: each.height ?? above(1) })), ...facts],
    },
    payments: [...payments, ...sent],
    held: new Map(
      [...coins.keys()].map((outpoint) => {
        const known = held.get(outpoint);
        return [outpoint, known?.isIndexed === true ? known : onlySats];
      }),
    ),
    coins,
    lent: lentTo(open, payment),
    stocked,
  };
}

/**
 * Parents that arrived. For a parent that is not sent yet, the planned value is used, or else the value of the order's
 * terms.
 */
const lentTo = ({ records, parents }: OpenOrder, payment: WantedPayment): DeliveryFunds['parents'] =>
  records.deposits.map((at, index): DeliveryFunds['parents'][number] => {
    const came = records.candidates[index];
    if (came !== undefined) return came;
    const { value, runes } = payment.parents?.get(index) ?? { value: parents[index]?.value ?? 0n, runes: [] };
    const { script } = at;
    return { at, payment: { txid: unsentParents, vout: index, value, script }, inscriptions: [], runes };
  });

interface PlannedDelivery {
  readonly kind: 'planned';
  readonly spent: readonly CoinPayment[];
  readonly places: readonly PlaceInOutput[];
}

type Tried =
  | PlannedDelivery
  /** The plan costs more than the quote. */
  | { readonly kind: 'dearer'; readonly extraCost: bigint }
  | Exclude<PaymentOutcome, { kind: 'delivered' }>;

/** Tries the delivery of a paid order once, in the same way as `processOrder`. */
function tryDelivery(order: Order, plan: QuotedPlan, came: Came, satributes: SatributeBook): Tried {
  const { payments } = came.facts;
  const costs = coinCosts(order, plan);
  if (selectCoins(payments, costs) === null)
    return { kind: 'short', missing: missingSats(payments, costs), extraCost: order.extraCost };
  const { held, lent, stocked } = came;
  const arrived = arrivedIn(came);
  const placed = spendPayments(
    order,
    { ...came, facts: { ...came.facts, costs }, parents: lent.map((parent) => parent.payment) },
    (funds) => placeSats(order, funds, { arrived, satributes }),
  );
  if (placed.kind === 'short')
    return { kind: 'dearer', extraCost: extraCostOf(placed.payments, placed.missing, costs) };
  if (placed.kind === 'unwanted') return { kind: 'refunded', reason: placed.reason };
  if (placed.kind === 'impossible') return { kind: 'failed', reason: placed.reason };
  assert(placed.kind === 'placed', 'what is known of coins does not come later');
  const unknown = whyRunesUnknown(lent);
  if (unknown !== null) return { kind: 'failed', reason: unknown };
  const signer = unsentWallet();
  const funds = { payments: placed.payments, held, parents: lent, stocked };
  const planned = planAll(planningOf(signer, order, funds, unsentLeaves(plan.layout), plan));
  if ('reason' in planned) {
    const { missing, reason } = planned;
    return missing === undefined
      ? { kind: 'failed', reason }
      : { kind: 'dearer', extraCost: extraCostOf(placed.payments, missing, costs) };
  }
  return { kind: 'planned', spent: placed.payments, places: inscribedOutputs(planned, signer) };
}

const arrivedIn = ({ coins }: Came): KnownSats['arrived'] => ({
  of: (_, payment) => {
    const ranges = coins.get(outpointOf(payment))?.ranges ?? null;
    return ranges === null
      ? { kind: 'unknown', reason: 'the payment has no block yet, or its sats cannot be determined here' }
      : { kind: 'known', ranges };
  },
  askAgain: () => undefined,
});

function planAll(planning: Planning): Planned {
  const planned = planDelivery(planning, []);
  return 'reason' in planned ? planned : withBurns(planning, planned);
}

function delivered(
  { coins: there, parents }: OpenOrder,
  payment: WantedPayment,
  { coins }: Came,
  { spent, places }: PlannedDelivery,
): PaymentOutcome {
  const paying = spent.flatMap(({ outpoint }) => coins.get(outpoint) ?? []);
  const shallow = new Set(there.filter(({ height }) => height === null).map(({ outpoint }) => outpoint));
  return {
    kind: 'delivered',
    spent: paying,
    inscribed: places.map(({ outpoint, offset }): InscribedSat => {
      const coin = coins.get(outpoint) ?? null;
      return { coin, offset, sat: coin === null ? null : satAt(coin.ranges, offset) };
    }),
    parentsMissing: parents.flatMap(({ came }, index) =>
      came === null && payment.parents?.has(index) !== true ? [index] : [],
    ),
    unconfirmed: paying.filter(({ outpoint }) => outpoint !== null && shallow.has(outpoint)),
  };
}

/** The sat at an offset in an output. Null if unknown. */
function satAt(ranges: readonly SatRange[] | null, offset: bigint): number | null {
  let before = Number(offset);
  for (const { start, end } of ranges ?? []) {
    if (before < end - start) return start + before;
    before -= end - start;
  }
  return null;
}
