import { expect, test } from 'vitest';
import { asTxid } from '#kernel/primitives/hash.ts';
import type { WaitingTransaction } from '#orders/order/order-transactions.store.ts';
import { batchesOf, unitsOf } from '#orders/sending/send-transactions.ts';

const waiting = (orderId: string, kind: WaitingTransaction['kind'], index = 0): WaitingTransaction => ({
  txid: asTxid(new Uint8Array(32)),
  orderId,
  kind,
  index,
  virtualBytes: 200,
  sentAt: null,
  refusal: null,
});

test('a reveal and its burn are sent together, and a burn without an unsent reveal is sent alone', () => {
  const transactions = [
    waiting('a', 'commit'),
    waiting('a', 'reveal', 0),
    waiting('a', 'burn', 0),
    waiting('a', 'reveal', 1),
    waiting('a', 'burn', 1),
    waiting('b', 'burn', 1),
    waiting('c', 'reveal', 0),
    waiting('c', 'refund', 0),
  ];
  const named = unitsOf(transactions).map((unit) =>
    unit.map(({ orderId, kind, index }) => `${orderId} ${kind} ${index}`),
  );
  expect(named).toEqual([
    ['a commit 0'],
    ['a reveal 0', 'a burn 0'],
    ['a reveal 1', 'a burn 1'],
    ['b burn 1'],
    ['c reveal 0'],
    ['c refund 0'],
  ]);
});

test('few transactions are sent at once, and even fewer large ones', () => {
  const sizes = (...virtualBytes: number[]): number[][] =>
    batchesOf(virtualBytes.map((each) => ({ virtualBytes: each }))).map((batch) =>
      batch.map((each) => each.virtualBytes),
    );
  expect(sizes()).toEqual([]);
  expect(sizes(...Array.from({ length: 17 }, () => 100)).map(({ length }) => length)).toEqual([8, 8, 1]);
  expect(sizes(600_000, 400_000, 1, 4_000_000, 5, 999_995)).toEqual([
    [600_000, 400_000],
    [1],
    [4_000_000],
    [5, 999_995],
  ]);
});
