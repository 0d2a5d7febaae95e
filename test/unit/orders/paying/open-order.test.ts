import { describe, expect, test } from 'vitest';
import { asTxid } from '#kernel/primitives/hash.ts';
import { asHeight } from '#kernel/primitives/height.ts';
import type { OrderTerms } from '#orders/inscribing/order-terms.ts';
import { type OrderQuote, quoteOrder } from '#orders/inscribing/quote-order.ts';
import { selectCoins } from '#orders/order/coin-selection.ts';
import type { Order } from '#orders/order/order.store.ts';
import { orderStates } from '#orders/order/order-machine.ts';
import { afterPayment } from '#orders/paying/after-payment.ts';
import { type OpenOrder, openOrder } from '#orders/paying/open-order.ts';
import { regtestSatributes } from '#test/support/regtest-satributes.ts';
import { inscriptionId, oneFile, p2pkh, prices } from '#test/unit/orders/inscribing/made-orders.ts';
import { now, payment, recordsOf, storedOrder, tip } from './open-orders.ts';

function quoted(more: Partial<OrderTerms> = {}): { terms: OrderTerms; quote: OrderQuote } {
  const terms = { ...oneFile, ...more };
  const quote = quoteOrder(terms, prices);
  if (quote.kind === 'refused') throw new Error(quote.reason);
  return { terms, quote };
}

const { terms: plainTerms, quote: plainQuote } = quoted();
const orderOf = (more: Partial<Order> = {}): Order => storedOrder(plainTerms, plainQuote, more);
const parent = { id: inscriptionId(5), value: 10_000n, returnScript: p2pkh };
const txid = asTxid(new Uint8Array(32).fill(5));

function opened(order: Order, ...more: [Parameters<typeof recordsOf>[1]?, number?]): OpenOrder {
  const [payments = [], estimate] = more;
  const found = openOrder(recordsOf(order, payments), estimate === undefined ? null : BigInt(estimate));
  if (found.kind !== 'open') throw new Error(found.kind);
  return found.order;
}

describe('an order to be paid', () => {
  test('takes money in the states that wait for it', () => {
    const kinds = orderStates.map((state) => [
      state,
      openOrder(recordsOf(orderOf({ state, error: 'why' }), []), null).kind,
    ]);
    expect(Object.fromEntries(kinds)).toEqual({
      'waiting-payment': 'open',
      'waiting-parent': 'open',
      'waiting-confirmation': 'paid',
      prep: 'paid',
      'waiting-reveal': 'paid',
      'waiting-rune-balance': 'paid',
      queued: 'paid',
      completed: 'paid',
      expired: 'over',
      cancelled: 'over',
      'waiting-refund': 'over',
      refunded: 'over',
      error: 'over',
    });
  });

  test('takes no money once its time is over, or its customer wants to cancel it', () => {
    const late = orderOf({ expiresAt: new Date(now.getTime() - 1) });
    expect(openOrder(recordsOf(late, []), null)).toEqual({ kind: 'over', state: 'expired' });
    expect(openOrder(recordsOf(orderOf({ isCancelAsked: true }), []), null)).toEqual({
      kind: 'over',
      state: 'cancelled',
    });
  });

  test('says how many sats are missing in one coin and in two, and which coins it has', () => {
    const order = orderOf();
    const none = opened(order);
    expect(none).toMatchObject({ missing: order.amount, coins: [], reveals: [1], postage: 546n });
    expect(none.missingInTwo).toBe(
      order.amount + (none.costs.input > none.costs.spare ? none.costs.input : 0n),
    );
    const half = opened(order, [
      payment(order, txid, 0, 1000n, asHeight(tip - 2)),
      payment(order, txid, 1, 700n, null),
      payment(order, txid, 2, 100n, tip),
    ]);
    expect(half.missing).toBe(order.amount - 1700n);
    expect(half.coins.map(({ value, depth, isCounted }) => ({ value, depth, isCounted }))).toEqual([
      { value: 1000n, depth: 3, isCounted: true },
      { value: 700n, depth: 0, isCounted: true },
      { value: 100n, depth: 1, isCounted: false },
    ]);
    const all = recordsOf(order, [payment(order, txid, 0, order.amount, tip)]);
    expect(openOrder(all, null)).toEqual({ kind: 'paid', state: 'waiting-payment' });
  });

  test('that is paid waits for its parents', () => {
    const { terms, quote } = quoted({ parents: [parent] });
    const order = storedOrder(terms, quote, { state: 'waiting-parent' });
    const open = opened(order, [payment(order, txid, 0, order.amount, tip)]);
    expect(open).toMatchObject({ missing: 0n, missingInTwo: 0n });
    expect(open.parents).toEqual([
      expect.objectContaining({ depositAddress: 'deposit 0', value: 10_000n, came: null }),
    ]);
    const outcome = (parents?: ReadonlyMap<number, { value: bigint; runes: [] }>) =>
      afterPayment(open, { coins: [], ...(parents === undefined ? {} : { parents }) }, regtestSatributes());
    expect(outcome()).toMatchObject({ kind: 'delivered', parentsMissing: [0] });
    expect(outcome(new Map([[0, { value: 10_000n, runes: [] }]]))).toMatchObject({ parentsMissing: [] });
    expect(outcome(new Map([[0, { value: 500n, runes: [] }]]))).toMatchObject({
      kind: 'failed',
      reason: expect.stringContaining('nodes relay at least 546 sats to its return address') as string,
    });
  });

  test('charges a late payment for the rise of fees, and shows its amount without that', () => {
    const { quote } = orderOf();
    const held = { ...quote, feeEstimate: 2000, heldUntil: now.getTime() - 1 };
    const order = orderOf({ quote: held });
    expect(opened(order, [], 3000)).toMatchObject({ amount: order.amount, missing: order.amount });
    const risen = opened(order, [], 20_000);
    expect(risen.shownAmount).toBe(order.amount);
    expect(risen.amount).toBeGreaterThan(order.amount);
    expect(risen.missing).toBe(risen.amount);
    expect(risen.feeRate).toBe(20_000n);
  });

  test('says which unmined coins would be spent', () => {
    const order = orderOf();
    const open = opened(order, [payment(order, txid, 3, 1000n, null)]);
    const outcome = afterPayment(
      open,
      { coins: [{ vout: 0, value: open.missing, ranges: null }] },
      regtestSatributes(),
    );
    expect(outcome).toMatchObject({
      kind: 'delivered',
      spent: [{ vout: 3 }, { outpoint: null, vout: 0 }],
      inscribed: [{ coin: { vout: 3 }, offset: 0n }],
      unconfirmed: [{ vout: 3 }],
    });
  });

  test('predicts nothing if coins are alike and the txid of the payment decides', () => {
    const order = orderOf();
    const open = opened(order, [payment(order, txid, 0, 600n, tip)]);
    const rest = order.amount - 600n;
    expect(selectCoins([{ outpoint: 'a:0', value: rest, firstSeen: now }], open.costs)).toBeNull();
    const coins = [600n, rest].map((value, vout) => ({ vout, value, ranges: null }));
    expect(afterPayment(open, { coins }, regtestSatributes())).toMatchObject({
      kind: 'failed',
      reason: expect.stringContaining('the txid of the payment decides which') as string,
    });
  });

  test('names the sat of each inscription if the sats of coins are known', () => {
    const open = opened(orderOf());
    const ranges = [
      { start: 7_000_000, end: 7_000_010 },
      { start: 9_000_000, end: 9_100_000 },
    ];
    const coins = [{ vout: 4, value: open.missing, ranges }];
    expect(afterPayment(open, { coins }, regtestSatributes())).toMatchObject({
      inscribed: [{ coin: { vout: 4 }, offset: 0n, sat: 7_000_000 }],
    });
  });

  test('is not delivered with less than the missing sats', () => {
    const open = opened(orderOf());
    const coins = [{ vout: 0, value: open.missing - 400n, ranges: null }];
    expect(afterPayment(open, { coins }, regtestSatributes())).toMatchObject({ kind: 'short' });
  });
});
