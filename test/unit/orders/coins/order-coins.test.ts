import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Txid, trustedTxid } from '#kernel/primitives/hash.ts';
import { type BumpCoinFacts, bumpCoins, type OrderCoinFacts, orderCoins } from '#orders/coins/order-coins.ts';
import { excessOf, hexOf, settlementsOf } from '#orders/ledger/settlements.ts';
import type { Order } from '#orders/order/order.store.ts';
import { type OrderState, orderStates } from '#orders/order/order-machine.ts';
import type { OrderTransaction } from '#orders/order/order-transactions.store.ts';
import { balancesOf, entriesOf } from '#purse/ledger/ledger.ts';
import { outpointOf } from '#purse/transactions/outpoint.ts';
import { type StoredPlan, spentBy } from '#purse/transactions/stored-plan.ts';
import { propertyRuns } from '#test/support/property-runs.ts';

const id = (byte: number): Txid => trustedTxid(Buffer.alloc(32, byte));
const depositScript = Buffer.alloc(34, 9);

type Input = readonly [txid: Txid, vout: number, value: bigint];
type Output = readonly [kind: StoredPlan['outputs'][number]['kind'], value: bigint];

function made(
  txid: Txid,
  kind: OrderTransaction['kind'],
  index: number,
  inputs: readonly Input[],
  outputs: readonly Output[],
): OrderTransaction {
  const sumOf = (values: readonly bigint[]) => values.reduce((sum, value) => sum + value, 0n);
  const fee = sumOf(inputs.map(([, , value]) => value)) - sumOf(outputs.map(([, value]) => value));
  expect(fee).toBeGreaterThanOrEqual(0n);
  return {
    txid,
    kind,
    index,
    files: 1,
    plan: {
      inputs: inputs.map(([from, vout, value]) => ({
        outpoint: outpointOf({ txid: from, vout }),
        value: Number(value),
      })),
      outputs: outputs.map(([of, value]) => ({
        kind: of,
        value: Number(value),
        script: of === 'parent' ? depositScript.toString('hex') : '',
      })),
    },
    fee: Number(fee),
    height: null,
    madeAt: new Date(0),
    sentAt: null,
    refusal: null,
  };
}

const paymentOf = (value: bigint, place: number, isGone = false) => ({
  txid: id(0x10 + place),
  vout: 0,
  value,
  goneAt: isGone ? new Date(0) : null,
});

interface History {
  readonly values: readonly bigint[];
  readonly late: readonly bigint[];
  readonly excess: bigint;
  readonly delivery: 'none' | 'direct' | 'burned' | 'wallet';
  readonly reveals: number;
  readonly isRefunded: boolean;
  readonly state: OrderState;
}

const history: fc.Arbitrary<History> = fc.record({
  values: fc.array(fc.bigInt({ min: 10_000n, max: 90_000n }), { minLength: 1, maxLength: 4 }),
  late: fc.array(fc.bigInt({ min: 0n, max: 9_000n }), { maxLength: 3 }),
  excess: fc.oneof(fc.constantFrom(0n, 329n, 330n, 331n), fc.bigInt({ min: 0n, max: 9_000n })),
  delivery: fc.constantFrom('none', 'direct', 'burned', 'wallet'),
  reveals: fc.integer({ min: 1, max: 3 }),
  isRefunded: fc.boolean(),
  state: fc.constantFrom(...orderStates),
});

/** The facts about an order after a history, and the order. */
function factsOf({ values, late, excess, delivery, reveals, isRefunded, state }: History) {
  const payments = [...values, ...late].map((value, place) => paymentOf(value, place));
  const paid = values.reduce((sum, value) => sum + value, 0n);
  const order: Pick<Order, 'state' | 'amount' | 'keyIndex' | 'ownIndex'> = {
    state,
    amount: paid - excess,
    keyIndex: 5,
    ownIndex: 6,
  };
  const inputs = payments.slice(0, values.length).map(({ txid, vout, value }): Input => [txid, vout, value]);
  const transactions: OrderTransaction[] = [];
  if (delivery === 'direct')
    transactions.push(
      made(id(1), 'reveal', 0, inputs, [
        ['postage', 546n],
        ['service', paid - 1000n],
      ]),
    );
  if (delivery === 'burned') {
    const rest = paid - 500n;
    transactions.push(
      made(id(1), 'reveal', 0, inputs, [
        ['burn', 240n],
        ['service', rest],
      ]),
      made(
        id(2),
        'burn',
        0,
        [
          [id(1), 0, 240n],
          [id(1), 1, rest],
        ],
        [
          ['burn', 0n],
          ['service', rest - 100n],
        ],
      ),
    );
  }
  if (delivery === 'wallet') {
    const commits = Array.from({ length: reveals }, (): Output => ['commit', 1500n]);
    transactions.push(
      made(id(1), 'commit', 0, inputs, [...commits, ['change', paid - 1500n * BigInt(reveals) - 300n]]),
      ...commits.map((_, place) =>
        made(
          id(3 + place),
          'reveal',
          place,
          [[id(1), place, 1500n]],
          [
            ['postage', 546n],
            ['service', 600n],
          ],
        ),
      ),
    );
  }
  const owed = delivery === 'none' ? null : excessOf(order, transactions);
  if (owed !== null && isRefunded && owed.value - owed.owed >= 330n)
    transactions.push(
      made(
        id(8),
        'refund',
        0,
        [[owed.txid, owed.vout, owed.value]],
        [
          ['refund', owed.owed - 200n],
          ['change', owed.value - owed.owed],
        ],
      ),
    );
  return { order, owed, facts: { payments, deposits: [], transactions } };
}

describe('coins of an order', () => {
  test('of any history have one holder each, are free only once it is delivered, and never with money of a customer', () => {
    fc.assert(
      fc.property(history, (given) => {
        const { order, owed, facts } = factsOf(given);
        const coins = orderCoins(order, facts);
        expect(new Set(coins.map(outpointOf)).size).toBe(coins.length);
        const spent = spentBy(facts.transactions);
        for (const coin of coins) {
          if (coin.held !== 'free') continue;
          expect(given.state).toBe('completed');
          expect(spent.has(outpointOf(coin))).toBe(false);
          expect(coin.key).toEqual({ branch: 1, index: 6 });
          if (owed !== null) expect(outpointOf(coin)).not.toBe(outpointOf(owed));
        }
        // Revenue is never held back. It is free once the order is delivered, if nothing spends it and the order owes a
        // customer nothing.
        if (given.state === 'completed' && owed === null)
          for (const { held, key } of coins.filter((coin) => !spent.has(outpointOf(coin))))
            expect(held === 'free').toBe(key.branch === 1);
      }),
      { numRuns: propertyRuns(500) },
    );
  });

  test('of any history add up to the ledger, also after reorganisations', () => {
    fc.assert(
      fc.property(history, fc.nat({ max: 8 }), (given, left) => {
        const { order, owed, facts } = factsOf(given);
        const mined = facts.transactions.slice(0, left);
        const some: OrderCoinFacts = { ...facts, transactions: mined };
        const spent = spentBy(mined);
        const there = orderCoins(order, some).filter((coin) => !spent.has(outpointOf(coin)));
        const receipts = facts.payments.map(({ txid, vout, value }) => ({
          txid: hexOf(txid),
          vout,
          value,
          to: 'owed' as const,
        }));
        const settled = settlementsOf(mined, {
          excess: owed,
          given: new Set(),
          deposits: new Set(),
          ours: new Set(),
        });
        const kept = [...balancesOf(entriesOf(receipts, settled))]
          .filter(([account]) => !['outside', 'fee', 'postage'].includes(account))
          .reduce((sum, [, sats]) => sum + sats, 0n);
        expect(there.reduce((sum, { value }) => sum + value, 0n)).toBe(kept);
      }),
      { numRuns: propertyRuns(500) },
    );
  });

  test('at a deposit are reserved with its key, also if a reveal passes a parent on', () => {
    const deposits = [{ payment: paymentOf(10_000n, 1), at: { keyIndex: 77, script: depositScript } }];
    const reveal = made(id(1), 'reveal', 0, [[id(0x11), 0, 10_000n]], [['parent', 10_000n]]);
    const order = { state: 'completed', amount: 1n, keyIndex: 5, ownIndex: 6 } as const;
    expect(orderCoins(order, { payments: [], deposits, transactions: [reveal] })).toEqual([
      {
        txid: id(0x11),
        vout: 0,
        value: 10_000n,
        key: { branch: 0, index: 77 },
        held: 'reserved',
        why: 'deposit',
      },
      {
        txid: id(1),
        vout: 0,
        value: 10_000n,
        key: { branch: 0, index: 77 },
        held: 'reserved',
        why: 'deposit',
      },
    ]);
  });

  test('end when their payments are gone', () => {
    const order = { state: 'expired', amount: 1n, keyIndex: 5, ownIndex: 6 } as const;
    const payments = [paymentOf(10_000n, 1, true)];
    expect(orderCoins(order, { payments, deposits: [], transactions: [] })).toEqual([]);
  });
});

test('the rest of a bump is free once all its orders are delivered, and reserved while it holds a customer’s sats', () => {
  const bump: BumpCoinFacts = {
    txid: id(1),
    ownIndex: 7,
    value: 900,
    isOwing: false,
    isThere: true,
    areDelivered: true,
  };
  const standing = (more: Partial<BumpCoinFacts>) =>
    bumpCoins({ ...bump, ...more }).map(({ held, why }) => `${held} ${why}`);
  expect(standing({})).toEqual(['free rest']);
  expect(standing({ areDelivered: false })).toEqual(['waiting delivery']);
  expect(standing({ isOwing: true })).toEqual(['reserved excess']);
  expect(standing({ isThere: false })).toEqual([]);
});
