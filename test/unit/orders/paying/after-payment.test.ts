import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { HeldInscription, RuneAmount } from '#kernel/contracts/holdings.ts';
import type { TransactionPlan } from '#kernel/contracts/transaction-plan.ts';
import { asTxid, type Txid } from '#kernel/primitives/hash.ts';
import { asHeight, type Height } from '#kernel/primitives/height.ts';
import { asU128 } from '#kernel/runes/u128.ts';
import type { SatRange } from '#kernel/sats/sat-range.ts';
import type { OrderTerms } from '#orders/inscribing/order-terms.ts';
import { largest, valueOf } from '#orders/inscribing/plan-amounts.ts';
import { type OrderQuote, quoteOrder } from '#orders/inscribing/quote-order.ts';
import { revealLeaf } from '#orders/inscribing/reveal-leaf.ts';
import { type PlanningSigner, planningOf } from '#orders/making/delivery-planning.ts';
import { planDelivery, withBurns } from '#orders/making/plan-delivery.ts';
import { extraCostOf } from '#orders/order/coin-selection.ts';
import type { Order } from '#orders/order/order.store.ts';
import type { Deposit } from '#orders/parents/deposits.ts';
import type { HeldPayment } from '#orders/parents/held-payments.ts';
import { afterPayment, type PaymentOutcome } from '#orders/paying/after-payment.ts';
import { type OpenOrder, openOrder } from '#orders/paying/open-order.ts';
import { coinCosts } from '#orders/pricing/coin-costs.ts';
import { placeSats } from '#orders/sats/place-sats.ts';
import type { WatchedPayment } from '#payments/payments.queries.ts';
import { outpointOf } from '#purse/transactions/outpoint.ts';
import { plainPayment } from '#test/builders/return-facts.ts';
import { propertyRuns } from '#test/support/property-runs.ts';
import { regtestSatributes } from '#test/support/regtest-satributes.ts';
import { testWallet } from '#test/support/wallet/plans.ts';
import { orders, somePrices } from '#test/unit/orders/inscribing/made-orders.ts';
import { satAt, satsOf } from '#test/unit/orders/inscribing/traced-sats.ts';
import { unsignedTransaction } from '#wallet/encode-transaction.ts';
import { payment, recordsOf, storedOrder, tip } from './open-orders.ts';

const { wallet } = testWallet();
/** Makes scripts and txids like the service. */
const signer: PlanningSigner = {
  scriptOf: (own) => wallet.addressOf(own).script,
  unsigned: unsignedTransaction,
};
const rune: RuneAmount = { id: { block: asU128(840_000), tx: 1 }, amount: asU128(7) };
const inscription: HeldInscription = { id: `${'ab'.repeat(32)}i0`, offset: 0n };

/** A coin as it is on the chain. */
interface MinedCoin {
  readonly paid: WatchedPayment;
  readonly height: Height;
  readonly held: HeldPayment;
  readonly ranges: readonly SatRange[];
}

/** Numbers of sats with which coins begin: `special` is in an early block, `common` is not. */
const special = 1_000_000_000;
const common = 1_900_000_000_000_000;

/**
 * Spends these coins with the service's own plans, and follows the sats by ord's rules. Returns `null` if the coins are
 * too few sats.
 */
function realOutcome(
  given: Order,
  terms: OrderTerms,
  { layout }: OrderQuote,
  coins: readonly MinedCoin[],
  parents: readonly Pick<Deposit, 'at' | 'payment' | 'inscriptions' | 'runes'>[],
): { spent: string[]; inscribed: { outpoint: string; offset: bigint }[] } | string | null {
  const leaves = layout.reveals.map((reveal) => revealLeaf(terms, reveal, wallet.orderKey(given.keyIndex)));
  const held = new Map(coins.map((coin) => [outpointOf(coin.paid), coin.held]));
  for (let order = given; ; ) {
    const spent = naivelySpent(order, coins, parents);
    if (spent === null || typeof spent === 'string') return spent;
    let missing = 'missing' in spent ? spent.missing : undefined;
    if (missing === undefined) {
      const planning = planningOf(
        signer,
        order,
        { payments: spent.payments, held, parents, stocked: null },
        leaves,
      );
      const reveals = planDelivery(planning, []);
      const planned = 'reason' in reveals ? reveals : withBurns(planning, reveals);
      if (!('reason' in planned)) {
        const plans = (kind: string) => planned.filter((each) => each.kind === kind).map(({ plan }) => plan);
        const counts = layout.reveals.map(({ count }) => count);
        return {
          spent: spent.payments.map(outpointOf),
          inscribed: inscribedIn(terms, counts, plans('commit')[0] ?? null, plans('reveal')),
        };
      }
      if (planned.missing === undefined) return planned.reason;
      missing = planned.missing;
    }
    const paying = spent.payments.map((each) => ({ ...each, outpoint: outpointOf(each) }));
    order = { ...order, extraCost: extraCostOf(paying, missing, coinCosts(order)) };
  }
}

/** The fewest coins that pay, the largest first, by ADR 65. Returns `null` if they are not enough. */
function naivelySpent(
  order: Order,
  coins: readonly MinedCoin[],
  parents: readonly { payment: { value: bigint } }[],
): { payments: readonly WatchedPayment[]; missing?: bigint } | string | null {
  const { amount, extraCost, input, spare, inputsMax, wantsSats } = coinCosts(order);
  const costs = coinCosts(order);
  const fewest = (from: readonly MinedCoin[]): readonly MinedCoin[] | null => {
    const sorted = from
      // with a rule for sats, a small coin may also be needed
      .filter(({ paid }) => wantsSats || paid.value > input)
      .toSorted(
        (a, b) => Number(b.paid.value - a.paid.value) || (outpointOf(a.paid) < outpointOf(b.paid) ? -1 : 1),
      );
    const count = sorted.findIndex((_, place) => {
      const needed = amount + largest(0n, extraCost + BigInt(place) * input - spare);
      return place < inputsMax && valueOf(sorted.slice(0, place + 1).map(({ paid }) => paid)) >= needed;
    });
    return count === -1 ? null : sorted.slice(0, count + 1);
  };
  if (!wantsSats) {
    const counted = coins.filter(({ held }) => held.inscriptions.length === 0);
    const found = fewest(counted.filter(({ held }) => !held.isHolding)) ?? fewest(counted);
    const chain = ({ paid, height }: MinedCoin): string =>
      `${height} ${Buffer.from(paid.txid).reverse().toString('hex')} ${String(paid.vout).padStart(5, '0')}`;
    return found === null
      ? null
      : { payments: found.toSorted((a, b) => (chain(a) < chain(b) ? -1 : 1)).map(({ paid }) => paid) };
  }
  // there are at most twenty coins, and all of them are examined
  if (fewest(coins) === null) return null;
  const ranges = new Map(coins.map((coin) => [outpointOf(coin.paid), coin.ranges]));
  const named = coins
    .map(({ paid }) => ({ ...paid, outpoint: outpointOf(paid) }))
    .toSorted((a, b) => (a.outpoint < b.outpoint ? -1 : 1));
  const placed = placeSats(
    order,
    { costs, payments: named, parents: parents.map((parent) => parent.payment) },
    {
      arrived: {
        of: (_, of) => ({ kind: 'known', ranges: ranges.get(outpointOf(of))! }),
        askAgain: () => undefined,
      },
      satributes: regtestSatributes(),
    },
  );
  if (placed.kind === 'unwanted' || placed.kind === 'impossible') return placed.reason;
  if (placed.kind === 'pending') throw new Error('all sats are known');
  return placed;
}

function inscribedIn(
  terms: OrderTerms,
  counts: readonly number[],
  commit: TransactionPlan | null,
  reveals: readonly TransactionPlan[],
): { outpoint: string; offset: bigint }[] {
  return reveals.flatMap((reveal, index) =>
    satsOf(terms, reveal, counts[index]!).map((sat) => {
      if (commit === null) return { outpoint: outpointOf(sat.input), offset: sat.offset };
      expect(sat.input.txid).toEqual(unsignedTransaction(commit).txid);
      const before = valueOf(commit.outputs.slice(0, sat.input.vout));
      const { input, offset } = satAt(commit.inputs, before + sat.offset);
      return { outpoint: outpointOf(input), offset };
    }),
  );
}

const someTxid: fc.Arbitrary<Txid> = fc
  .uint8Array({ minLength: 32, maxLength: 32 })
  .map((bytes) => asTxid(Uint8Array.from(bytes)));

const values = (amount: bigint): fc.Arbitrary<bigint> =>
  fc.oneof(
    fc.integer({ min: 1, max: 100 }).map((percent) => largest(330n, (amount * BigInt(percent)) / 100n)),
    fc.integer({ min: 330, max: 60_000 }).map(BigInt),
    fc.constantFrom(330n, amount, amount + 1n),
  );

const rangesOf = (value: bigint, isSpecial: boolean, place: number): SatRange[] => {
  const start = (isSpecial ? special : common) + place * 10_000_000;
  return [{ start, end: start + Number(value) }];
};

interface CaseOf {
  readonly open: OpenOrder;
  readonly outcome: PaymentOutcome;
  readonly real: ReturnType<typeof realOutcome>;
  /** Converts an outpoint into its name in the simulation. */
  readonly named: (outpoint: string) => string;
}

/**
 * Makes one random order with coins and a payment, and the results of both implementations. Returns `null` if the order
 * accepts no money.
 */
function tryCase(terms: OrderTerms, quote: OrderQuote, pick: fc.GeneratorValue): CaseOf | null {
  const wantsSats = !terms.burn && pick(() => fc.boolean());
  const plain = storedOrder(terms, quote);
  const request = { ...plain.request, allowedSatributes: wantsSats ? ['vintage'] : null };
  const order = { ...plain, request };
  const kinds = wantsSats ? [plainPayment] : [plainPayment, plainPayment, runic, inscribed];
  const coinOf = (
    value: bigint,
    height: Height | null,
    place: number,
    txid: Txid,
    vout: number,
  ): MinedCoin => ({
    paid: payment(order, txid, vout, value, height),
    height: height ?? asHeight(tip + 1),
    held: height === null ? plainPayment : pick(() => fc.constantFrom(...kinds)),
    ranges: rangesOf(
      value,
      pick(() => fc.boolean()),
      place,
    ),
  });
  const there = pick(() => fc.array(values(quote.amount), { maxLength: 3 })).map((value, place) =>
    coinOf(
      value,
      pick(() => fc.constantFrom(asHeight(690), asHeight(690), asHeight(695), null)),
      place,
      pick(() => someTxid),
      pick(() => fc.nat(12)),
    ),
  );
  const parents = terms.parents.map(({ value }, index) => ({
    value: largest(546n, value + pick(() => fc.constantFrom(0n, 0n, 0n, 5n, -200n))),
    runes: pick(() => fc.constantFrom<RuneAmount[]>([], [], [{ ...rune, id: { ...rune.id, tx: index } }])),
  }));
  const records = recordsOf(
    order,
    there.map(({ paid }) => paid),
    {},
    new Map(there.map(({ paid, held }) => [outpointOf(paid), held])),
  );
  const found = openOrder(records, null);
  if (found.kind !== 'open') return null;
  const known = new Map(there.map(({ paid, ranges }) => [outpointOf(paid), ranges]));
  const coins = found.order.coins.map((coin) => ({ ...coin, ranges: known.get(coin.outpoint)! }));
  const open = { ...found.order, coins };
  const txid = pick(() => someTxid);
  const sent = sentValues(open, quote, pick).map((value, place) =>
    coinOf(value, null, 10 + place, txid, place + pick(() => fc.constantFrom(0, 9)) * 2),
  );
  if (new Set(sent.map(({ paid }) => paid.vout)).size < sent.length) return null;
  const outcome = afterPayment(
    open,
    {
      coins: sent.map(({ paid: { vout, value }, ranges }) => ({ vout, value, ranges })),
      parents: new Map(parents.map((parent, index) => [index, parent])),
    },
    regtestSatributes(),
  );
  const lent = parents.map(({ value, runes }, index) => ({
    at: records.deposits[index]!,
    payment: {
      ...payment(order, asTxid(new Uint8Array(32).fill(77)), index, value, tip),
      script: wallet.addressOf({ key: { branch: 0, index: 20 + index }, leafScript: null }).script,
    },
    inscriptions: [],
    runes,
  }));
  const mined = [...there, ...sent.map((coin) => ({ ...coin, height: asHeight(tip + 2) }))];
  const real = realOutcome(order, terms, quote, mined, lent);
  const ours = new Set(sent.map(({ paid }) => outpointOf(paid)));
  const named = (outpoint: string): string =>
    ours.has(outpoint) ? `payment:${outpoint.split(':')[1]}` : outpoint;
  return { open, outcome, real, named };
}

/** Values of coins that are sent: the missing sats in one coin or in two, or other values. */
function sentValues(
  { missing, missingInTwo, postage }: OpenOrder,
  { amount }: OrderQuote,
  pick: fc.GeneratorValue,
): bigint[] {
  const first = largest(330n, postage);
  const one = missing === 0n ? [] : [missing];
  const two = missingInTwo === null || missingInTwo - first < 330n ? one : [first, missingInTwo - first];
  return pick(() =>
    fc.oneof(fc.constant(one), fc.constant(two), fc.array(values(amount), { minLength: 1, maxLength: 3 })),
  );
}

const runic: HeldPayment = { ...plainPayment, isHolding: true, runes: [rune] };
const inscribed: HeldPayment = { ...plainPayment, isHolding: true, inscriptions: [inscription] };

const coinName = (coin: { outpoint: string | null; vout: number }): string =>
  coin.outpoint ?? `payment:${coin.vout}`;

/** Checks the predictions of random payments, and returns them. */
function checkPredictions(runs: { readonly numRuns: number; readonly seed?: number }): PaymentOutcome[] {
  const outcomes: PaymentOutcome[] = [];
  fc.assert(
    fc.property(orders, somePrices, fc.gen(), (terms, given, pick) => {
      const quote = quoteOrder(terms, given);
      if (quote.kind === 'refused') return;
      const tried = tryCase(terms, quote, pick);
      if (tried === null) return;
      const { outcome, real, named } = tried;
      outcomes.push(outcome);
      if (outcome.kind === 'delivered') {
        if (real === null || typeof real === 'string') throw new Error(`not delivered: ${real}`);
        expect(outcome.spent.map(coinName)).toEqual(real.spent.map(named));
        expect(outcome.inscribed.map(({ coin, offset }) => ({ outpoint: coinName(coin!), offset }))).toEqual(
          real.inscribed.map(({ outpoint, offset }) => ({ outpoint: named(outpoint), offset })),
        );
      } else if (outcome.kind === 'short') expect(real).toBeNull();
      else if (!outcome.reason.includes('txid')) expect(real).toBe(outcome.reason);
    }),
    { endOnFailure: true, ...runs },
  );
  return outcomes;
}

describe('an order after a payment', () => {
  test('is delivered as the plans of its transactions say, for any order and any payments', () => {
    const ends = { delivered: 0, short: 0, refunded: 0, failed: 0 };
    let several = 0;
    for (const outcome of checkPredictions({ numRuns: propertyRuns(800) })) {
      ends[outcome.kind]++;
      if (outcome.kind === 'delivered' && outcome.spent.length > 1) several++;
    }
    expect(ends.delivered).toBeGreaterThan(50);
    expect(ends.short).toBeGreaterThan(6);
    expect(ends.refunded).toBeGreaterThan(5);
    expect(several).toBeGreaterThan(18);
  });

  // the tenth case of this seed: the first and the last place in the sequence have the same outcome
  test('is not predicted if only a txid between those of two coins changes the outcome', () => {
    const outcomes = checkPredictions({ seed: -350045262, numRuns: 10 });
    expect(outcomes.at(-1)).toMatchObject({
      kind: 'failed',
      reason: expect.stringContaining('the txid of the payment decides which') as string,
    });
  });
});
