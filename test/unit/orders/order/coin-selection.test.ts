import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { plannedWeight } from '#kernel/bitcoin/plan-weight.ts';
import { standardWeightMax } from '#kernel/bitcoin/transaction-size.ts';
import { asHeight } from '#kernel/primitives/height.ts';
import type { OrderTerms } from '#orders/inscribing/order-terms.ts';
import { valueOf } from '#orders/inscribing/plan-amounts.ts';
import { type OrderQuote, quoteOrder } from '#orders/inscribing/quote-order.ts';
import {
  type Coin,
  type CoinCosts,
  extraCostOf,
  inChainOrder,
  lookedUp,
  lookedUpMax,
  missingIn,
  missingSats,
  selectCoins,
  withPlaced,
} from '#orders/order/coin-selection.ts';
import { storedTerms } from '#orders/order/stored-terms.ts';
import { coinCosts } from '#orders/pricing/coin-costs.ts';
import { wantedOrder } from '#test/builders/wanted-order.ts';
import { propertyRuns } from '#test/support/property-runs.ts';
import {
  dummyKeys,
  makeOrder,
  oneFile,
  orders,
  prices,
  somePrices,
} from '#test/unit/orders/inscribing/made-orders.ts';

const { request, quote: someQuote } = wantedOrder(['text']);
/** The costs of an order as it is stored. */
function costsFor(terms: OrderTerms, quote: OrderQuote): CoinCosts {
  const stored = {
    ...someQuote,
    serviceFee: Number(quote.serviceFee),
    postage: Number(quote.postage),
    amount: Number(quote.amount),
  };
  return coinCosts({
    amount: quote.amount,
    extraCost: 0n,
    terms: storedTerms(terms),
    quote: stored,
    request,
  });
}

const coin = (value: bigint, vout: number, seen = 0): Coin => ({
  outpoint: `${'ab'.repeat(32)}:${vout}`,
  value,
  firstSeen: new Date(seen),
});
const coinsOf = (values: readonly bigint[]): Coin[] => values.map((value, vout) => coin(value, vout));
const many = (count: number, value: bigint, from = 100): Coin[] =>
  Array.from({ length: count }, (_, place) => coin(value, from + place, 1));

/** An order of a text at a fee rate in sat/vB, with the default prices. */
function textOrder(
  feeRate: number,
  more: Partial<OrderTerms> = {},
): { quote: OrderQuote; terms: OrderTerms; costs: CoinCosts } {
  const terms = { ...oneFile, feeRate: BigInt(feeRate * 1000), ...more };
  const quote = quoteOrder(terms, prices);
  if (quote.kind === 'refused') throw new Error(quote.reason);
  return { quote, terms, costs: costsFor(terms, quote) };
}

/** Values of payments: parts of an amount, dust, and more than enough. */
const values = (amount: bigint): fc.Arbitrary<bigint[]> =>
  fc.array(
    fc.oneof(
      fc.integer({ min: 1, max: 100 }).map((percent) => (amount * BigInt(percent)) / 100n),
      fc.integer({ min: 330, max: 60_000 }).map(BigInt),
      fc.constantFrom(330n, amount, amount - 330n, amount + 1n),
    ),
    { maxLength: 12 },
  );

describe('the coins that pay for an order', () => {
  test('can be planned, also after a payment of the missing sats', () => {
    let planned = 0;
    fc.assert(
      fc.property(
        orders.map((terms) => ({ ...terms, type: 'direct' as const })),
        somePrices,
        fc.gen(),
        (terms, given, pick) => {
          const quote = quoteOrder(terms, given);
          if (quote.kind === 'refused') return;
          const costs = costsFor(terms, quote);
          const there = coinsOf(pick(values, quote.amount));
          const missing = missingSats(there, costs);
          const paid = missing === 0n ? there : [...there, coin(missing, 99)];
          const selected = selectCoins(paid, costs);
          expect(selected).not.toBeNull();
          const payments = selected!.map(({ value }) => value);
          const { commit, reveals } = makeOrder(terms, quote, dummyKeys, {
            payments,
            parents: terms.parents.map(({ value }) => value),
          });
          planned++;
          const spending = commit ?? reveals[0]!;
          if (payments.length > 1) expect(plannedWeight(spending)).toBeLessThanOrEqual(standardWeightMax);
          // no coin is spent if its input costs more than its value
          for (const value of payments) expect(value).toBeGreaterThan(costs.input);
        },
      ),
      { numRuns: propertyRuns(400) },
    );
    expect(planned).toBeGreaterThan(40);
  });

  const someCosts: fc.Arbitrary<CoinCosts> = fc.record({
    amount: fc.integer({ min: 1000, max: 100_000 }).map(BigInt),
    extraCost: fc.constantFrom(0n, 0n, 700n),
    input: fc.integer({ min: 6, max: 3000 }).map(BigInt),
    spare: fc.integer({ min: 0, max: 4000 }).map(BigInt),
    inputsMax: fc.integer({ min: 1, max: 8 }),
    wantsSats: fc.boolean(),
  });

  test('are enough whatever else arrives, and the same in any order', () => {
    fc.assert(
      fc.property(
        someCosts,
        fc.gen(),
        fc.array(fc.integer({ min: 330, max: 50_000 }), { maxLength: 40 }),
        (costs, pick, more) => {
          const there = coinsOf(pick(values, costs.amount));
          const selected = selectCoins(there, costs);
          const later = more.map((value, place) => coin(BigInt(value), 200 + place, 5));
          const all = selectCoins([...later, ...there], costs);
          if (selected !== null) expect(all).not.toBeNull();
          expect(selectCoins([...there, ...later].toReversed(), costs)).toEqual(all);
          if (all === null) return;
          expect(all.length).toBeLessThanOrEqual(costs.wantsSats ? 20 : costs.inputsMax);
          expect(valueOf(all)).toBeGreaterThanOrEqual(costs.amount);
        },
      ),
      { numRuns: propertyRuns(2000) },
    );
  });

  test('are there once the missing sats arrive in one more, which a wallet can send', () => {
    fc.assert(
      fc.property(someCosts, fc.gen(), (costs, pick) => {
        const there = coinsOf(pick(values, costs.amount));
        const missing = missingSats(there, costs);
        expect(missing === 0n).toBe(selectCoins(there, costs) !== null);
        if (missing === 0n) return;
        expect(missing).toBeGreaterThanOrEqual(330n);
        expect(selectCoins([...there, coin(missing, 99)], costs)).not.toBeNull();
      }),
      { numRuns: propertyRuns(2000) },
    );
  });

  test('are there once the missing sats arrive in two more, each worth more than its input', () => {
    fc.assert(
      fc.property(someCosts, fc.gen(), fc.double({ min: 0, max: 1, noNaN: true }), (costs, pick, part) => {
        const there = coinsOf(pick(values, costs.amount));
        const missing = missingIn(there, costs, 2);
        if (costs.inputsMax < 2) {
          expect(missing).toBe(selectCoins(there, costs) === null ? null : 0n);
          return;
        }
        expect(missing === 0n).toBe(selectCoins(there, costs) !== null);
        if (missing === null || missing === 0n) return;
        const least = costs.input < 330n ? 330n : costs.input + 1n;
        const first = least + BigInt(Math.floor(Number(missing - 2n * least) * part));
        const two = [coin(first, 98), coin(missing - first, 99)];
        expect(missing).toBeGreaterThanOrEqual(2n * least);
        expect(selectCoins([...there, ...two], costs)).not.toBeNull();
      }),
      { numRuns: propertyRuns(2000) },
    );
  });

  test('belong to the customer, whatever a stranger sends', () => {
    // each of these combinations once stopped a paid order
    for (const [feeRate, dust, terms] of [
      [10, 12, {}],
      [25, 4, { uncurse: true }],
      [1, 1800, {}],
      [100, 59, {}],
    ] as const) {
      const { quote, costs } = textOrder(feeRate, terms);
      const paid = coin(quote.amount, 0);
      expect(selectCoins([...many(dust, 330n), paid], costs)).toEqual([paid]);
      expect(selectCoins(many(dust, 330n), { ...costs, input: 330n })).toBeNull();
    }
  });

  test('may be parts of exactly the amount: the service pays for more inputs, as far as it earns by the order', () => {
    const { quote, costs } = textOrder(5);
    const third = quote.amount / 3n;
    const parts = coinsOf([third, third, quote.amount - 2n * third]);
    expect(selectCoins(parts, costs)).toHaveLength(3);
    expect(missingSats(parts.slice(1), costs)).toBe(third);
  });

  test('are more than the amount if inputs cost more than the service earns', () => {
    // like the order that ended 940 sats short
    const { quote, terms, costs } = textOrder(100, {
      files: [{ ...oneFile.files[0]!, body: new Uint8Array(2000) }],
    });
    const first = coin(quote.amount - 20_000n, 0);
    expect(selectCoins([first, coin(20_000n, 1)], costs)).toBeNull();
    const missing = missingSats([first], costs);
    expect(missing).toBe(20_000n + 5800n - costs.spare);
    const coins = selectCoins([first, coin(missing, 1)], costs)!;
    expect(() =>
      makeOrder(terms, quote, dummyKeys, { payments: coins.map(({ value }) => value), parents: [] }),
    ).not.toThrow();
  });

  test('are at most as many as nodes relay in one transaction; if that is one, one coin pays all', () => {
    const { quote, costs } = textOrder(1);
    expect(costs.inputsMax).toBeGreaterThan(1700);
    const parts = many(1000, quote.amount / 900n);
    expect(selectCoins(parts, { ...costs, input: 1n, inputsMax: 800 })).toBeNull();
    const large = textOrder(1, { files: [{ ...oneFile.files[0]!, body: 395_000 }] });
    expect(large.costs.inputsMax).toBe(1);
    const half = coin(large.quote.amount / 2n, 0);
    expect(missingSats([half], large.costs)).toBe(large.quote.amount);
  });

  test('cost what their plan says, once they were found to be short', () => {
    const { quote, costs } = textOrder(20);
    const coins = coinsOf([quote.amount]);
    const extraCost = extraCostOf(coins, 900n, costs);
    expect(extraCost).toBe(costs.spare + 900n);
    const dearer = { ...costs, extraCost };
    expect(selectCoins(coins, dearer)).toBeNull();
    expect(selectCoins([coin(quote.amount + 900n, 0)], dearer)).not.toBeNull();
    // a coin that was chosen for its sats, although its input costs more than its value
    const placed = [coin(546n, 1), ...coins];
    expect(extraCostOf(placed, 900n, { ...costs, input: 5800n })).toBe(extraCost);
  });

  test('of an order that wants certain sats are 20 at most, without later dust', () => {
    const { quote, costs } = textOrder(10);
    const wanted = { ...costs, wantsSats: true };
    const special = coin(330n, 0);
    const fees = coin(quote.amount, 1);
    const selected = selectCoins([...many(25, 330n), special, fees], wanted)!;
    expect(selected).toHaveLength(20);
    expect(selected).toEqual(expect.arrayContaining([special, fees]));
    expect(withPlaced([special], [...many(25, 330n), fees], wanted)).toEqual([special, fees]);
  });
});

describe('coins in the order of the chain', () => {
  const mined = (txid: string, vout: number, height: number | null, value = 330n) => ({
    outpoint: `${txid.repeat(32)}:${vout}`,
    value,
    firstSeen: new Date(0),
    height: height === null ? null : asHeight(height),
  });
  const someCoins = fc.uniqueArray(
    fc.record({
      txid: fc.constantFrom('0a', 'a0', 'ff'),
      vout: fc.integer({ min: 0, max: 30 }),
      height: fc.option(fc.integer({ min: 100, max: 104 })),
      value: fc.bigInt({ min: 330n, max: 90_000n }),
    }),
    { maxLength: 12, selector: ({ txid, vout }) => `${txid}:${vout}` },
  );

  test('are by block, txid and output, whatever their values', () => {
    const coins = [
      mined('0a', 0, null),
      mined('a0', 10, 100),
      mined('a0', 2, 100),
      mined('ff', 0, 99, 90_000n),
      mined('0a', 7, 100, 90_000n),
      mined('0a', 3, 101),
    ];
    const places = inChainOrder(coins).map(({ outpoint, height }) => [
      height,
      outpoint.replace(/^(..)\1*/u, '$1'),
    ]);
    expect(places).toEqual([
      [99, 'ff:0'],
      [100, '0a:7'],
      [100, 'a0:2'],
      [100, 'a0:10'],
      [101, '0a:3'],
      [null, '0a:0'],
    ]);
  });

  test('are the same, each once, whatever order they are read in; later ones come after them', () => {
    fc.assert(
      fc.property(someCoins, fc.gen(), (given, pick) => {
        const coins = given.map(({ txid, vout, height, value }) => mined(txid, vout, height, value));
        const ordered = inChainOrder(coins);
        const shuffled = pick(fc.shuffledSubarray, coins, {
          minLength: coins.length,
          maxLength: coins.length,
        });
        expect(inChainOrder(shuffled)).toEqual(ordered);
        expect(new Set(ordered)).toEqual(new Set(coins));
        const later = mined('00', 0, 105);
        const there = ordered.filter(({ height }) => height !== null);
        expect(inChainOrder([later, ...there])).toEqual([...there, later]);
      }),
      { numRuns: propertyRuns(500) },
    );
  });
});

describe('coins whose sats are looked up', () => {
  test('stay the same when a payment arrives', () => {
    const coins = fc.array(fc.tuple(fc.nat(3_000), fc.nat(5)), { maxLength: 60 });
    fc.assert(
      fc.property(coins, coins, fc.nat(2_000), (there, paid, input) => {
        const costs = { ...textOrder(1).costs, input: BigInt(input), wantsSats: true };
        const all = [...there, ...paid].map(([value, seen], vout) => coin(BigInt(value), vout, seen));
        // the payment comes after the coins that are already there
        const old = all.slice(0, there.length);
        const both = [
          ...old,
          ...all.slice(there.length).map((each) => ({ ...each, firstSeen: new Date(9) })),
        ];
        const before = new Set(lookedUp(old, costs).map(({ outpoint }) => outpoint));
        expect(before.size).toBeLessThanOrEqual(lookedUpMax);
        const names = new Set(old.map(({ outpoint }) => outpoint));
        for (const { outpoint } of lookedUp(both, costs))
          expect(!names.has(outpoint) || before.has(outpoint)).toBe(true);
      }),
      { numRuns: propertyRuns(300) },
    );
  });
});
