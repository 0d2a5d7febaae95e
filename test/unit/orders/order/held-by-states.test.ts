import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { trustedTxid } from '#kernel/primitives/hash.ts';
import { refundedNow } from '#orders/following/decide-refund.ts';
import type { OwedMoney } from '#orders/ledger/settlements.ts';
import { type OrderState, orderStates } from '#orders/order/order-machine.ts';
import { returnOf } from '#orders/parents/returns.ts';
import { countedStates, forgettingStates, isReserving } from '#orders/stock/reserved-until.ts';
import { returnFacts } from '#test/builders/return-facts.ts';

const held = ['payments', 'deposits', 'stock', 'counts'] as const;
type Held = (typeof held)[number];

/** The table of docs/orders-operator.md, "What an order holds". */
const documented = new Map<string, Record<Held, string>>();
const text = await readFile(new URL('../../../../docs/orders-operator.md', import.meta.url), 'utf8');
const [, section = ''] = text.split('### What an order holds');
for (const [, state = '', ...cells] of section.matchAll(
  /^\| `([a-z-]+)` \| ([^|]+) \| ([^|]+) \| ([^|]+) \| ([^|]+) \|$/gmu,
)) {
  const [payments = '', deposits = '', stock = '', counts = ''] = cells;
  documented.set(state, { payments, deposits, stock, counts });
}

const expiresAt = new Date(Date.UTC(2026, 0, 1));
const after = (ms: number): Date => new Date(expiresAt.getTime() + ms);
const second = 1000;
const day = 24 * 3600 * second;
const money: OwedMoney = {
  txid: trustedTxid(Buffer.alloc(32, 1)),
  vout: 0,
  value: 10_000n,
  owed: 10_000n,
  at: 'address',
};

/** How long the sat of an order stays reserved. The order is in this state since its time ended. */
function releasedAfter(state: OrderState): number | null {
  const order = { state, expiresAt, paidAt: null, failedAt: state === 'error' ? expiresAt : null };
  const times = [0, 120 * second, day];
  return times.find((ms) => !isReserving(order, after(ms))) ?? null;
}

const returned = (state: OrderState) =>
  returnOf(
    returnFacts(expiresAt, {
      state,
      deposits: [
        {
          at: { index: 0, keyIndex: 0, script: new Uint8Array(34), address: '' },
          payment: {
            ...money,
            script: new Uint8Array(34),
            firstSeen: new Date(0),
            block: null,
            goneAt: null,
            replacedBy: null,
            change: 1,
          },
          state: 'other',
          isDust: false,
          isHolding: true,
          isUnspent: true,
          inscriptions: [],
          runes: [],
        },
      ],
    }),
  );

describe.each(orderStates)('an order in the state %s', (state) => {
  const row = documented.get(state);

  test('has its money refunded as documented', () => {
    const refunded = refundedNow(
      { state, refundScript: Buffer.alloc(34) },
      { isRevealed: state === 'completed', etching: null },
      { owed: [money], isHoldingParents: false },
    );
    expect(row?.payments.includes('refunded by itself')).toBe(refunded.length > 0);
  });

  test('has mistaken deposits returned as documented', () => {
    expect(row?.deposits.includes('returned')).toBe(returned(state) !== null);
  });

  test('keeps its sat of the inventory as long as documented', () => {
    const words = new Map<number | null, string>([
      [0, 'released'],
      [120 * second, 'kept: two minutes'],
      [day, 'kept: a day'],
      [null, 'kept'],
    ]);
    expect(row?.stock.startsWith(words.get(releasedAfter(state)) ?? '')).toBe(true);
    // nothing stays reserved if no one has anything left to do
    const isOver = ['expired', 'cancelled', 'waiting-refund', 'refunded', 'error'].includes(state);
    if (isOver) expect(releasedAfter(state)).not.toBeNull();
  });

  test('counts for its client as documented, and as long as a sat is locked without a delivery', () => {
    const counts = countedStates.some((one) => one === state);
    expect(row?.counts).toBe(counts ? 'yes' : 'no');
    // the service must not forget an order whose state counts
    expect(counts && forgettingStates.some((one) => one === state)).toBe(false);
  });
});

test('every state is documented', () => {
  expect([...documented.keys()].toSorted()).toEqual([...orderStates].toSorted());
});
