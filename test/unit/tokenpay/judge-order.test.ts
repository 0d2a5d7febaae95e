import { expect, test } from 'vitest';
import { asTxid } from '#kernel/primitives/hash.ts';
import type { WatchedPayment } from '#payments/payments.queries.ts';
import { judgeOrder } from '#tokenpay/following/judge-order.ts';
import type { Charge, ChargeKind, TokenOrder } from '#tokenpay/order/token-order.ts';

const expiresAt = new Date('2026-11-29T12:00:00Z');
const at = (minutes: number): Date => new Date(expiresAt.getTime() + minutes * 60_000);
const scripts = { fee: Uint8Array.of(0, 1), token: Uint8Array.of(0x51, 2) };

const charge = (kind: ChargeKind): Charge => ({
  kind,
  amount: 5n,
  address: kind,
  script: scripts[kind],
  keyIndex: 0,
  state: 'pending_payment',
  txid: null,
});

const order = (given: Partial<TokenOrder> = {}): TokenOrder => ({
  id: '6f1c2b1e-5a0e-4c55-9d0c-0b8f7f0b9a11',
  account: 'shop',
  createdAt: at(-60),
  expiresAt,
  endsAt: expiresAt,
  state: 'pending',
  rune: { asset: 2, etching: asTxid(new Uint8Array(32)), name: 'UNCOMMON•GOODS', divisibility: 0 },
  baseFee: 5n,
  additionalFee: 0n,
  description: null,
  webhookUrl: null,
  successUrl: null,
  secretKey: null,
  inscription: null,
  charges: { fee: charge('fee'), token: charge('token') },
  ...given,
});

const payment = (given: Partial<WatchedPayment>): WatchedPayment =>
  ({
    change: 1,
    txid: asTxid(Buffer.alloc(32, 7)),
    vout: 0,
    script: scripts.token,
    value: 546n,
    block: null,
    firstSeen: at(-10),
    goneAt: null,
    replacedBy: null,
    ...given,
  }) as WatchedPayment;

const judged = (
  payments: readonly WatchedPayment[],
  now: Date,
  completeAt: Date | null = now,
  of: TokenOrder = order(),
) => judgeOrder(of, { payments, now, completeAt }, []);

test('an order ends once its time is over, and payments are known up to then', () => {
  expect(judged([], at(-1)).order.state).toBe('pending');
  expect(judged([], at(0)).order.state).toBe('error');
});

test('it does not end while payments are known up to an earlier time, or not at all', () => {
  for (const completeAt of [at(-1), null]) {
    const { order: standing, lookAt } = judged([], at(240), completeAt);
    expect([standing.state, lookAt]).toEqual(['pending', expiresAt]);
  }
});

const block = { height: 100, hash: Buffer.alloc(32, 9) } as unknown as WatchedPayment['block'];
const minedBy = 72 * 60;

test('a payment that came in time keeps it open, however late it is', () => {
  const mined = payment({ block });
  const { order: standing, lookAt } = judged([mined], at(minedBy + 600));
  expect([standing.state, standing.charges.token.state, lookAt]).toEqual(['pending', 'payment_seen', null]);
});

test('a payment without a block keeps it open for 72 hours, and counts again once it has its block', () => {
  const { order: standing, lookAt } = judged([payment({})], at(minedBy - 1));
  expect([standing.state, standing.charges.token.state, lookAt]).toEqual([
    'pending',
    'payment_seen',
    at(minedBy),
  ]);
  // payments are known only up to an earlier time, so a block may contain this one
  for (const completeAt of [at(minedBy - 1), null])
    expect(judged([payment({})], at(minedBy + 600), completeAt, standing).order.state).toBe('pending');
  const held = judged([payment({})], at(minedBy), at(minedBy), standing);
  expect([held.order.state, held.lookAt]).toEqual(['pending', standing.endsAt]);
  const counted = judged([payment({ block })], at(minedBy + 10), at(minedBy + 10), held.order);
  expect([counted.order.state, counted.order.charges.token.state]).toEqual(['pending', 'payment_seen']);
  const over = judged([payment({})], at(minedBy + 60), at(minedBy + 60), held.order);
  expect([over.order.state, over.order.charges.token.state]).toEqual(['error', 'expired']);
});

test('it waits an hour for a payment that is gone, because a restarted node loses sight of it', () => {
  // the payment was seen in time, and was in the mempool for three hours
  const gone = payment({ goneAt: at(180) });
  const { order: standing, lookAt } = judged([gone], at(181));
  expect([standing.state, lookAt]).toEqual(['pending', at(240)]);
  expect(judged([gone], at(239), at(239), standing).order.state).toBe('pending');
  expect(judged([gone], at(240), at(240), standing).order.state).toBe('error');
  // the payment is in the mempool again
  expect(judged([payment({})], at(239), at(239), standing).order.charges.token.state).toBe('payment_seen');
});

test('a payment that came late, and is gone, changes no end', () => {
  expect(judged([payment({ firstSeen: at(1), goneAt: at(180) })], at(181)).order.state).toBe('error');
});

test('an error is for good', () => {
  const standing = judged([payment({})], at(1), at(1), order({ state: 'error' }));
  expect([standing.order.state, standing.lookAt]).toEqual(['error', null]);
});
