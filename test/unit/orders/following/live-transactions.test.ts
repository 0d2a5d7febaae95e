import { describe, expect, test } from 'vitest';
import { displayHash, type Txid, trustedTxid } from '#kernel/primitives/hash.ts';
import { mayBeDelivered, outputsThere, splitOrphans } from '#orders/following/live-transactions.ts';

const txid = (fill: number): Txid => trustedTxid(new Uint8Array(32).fill(fill));
const outpoint = (fill: number, vout = 0): string => `${displayHash(txid(fill))}:${vout}`;
const made = (fill: number, ...spent: readonly string[]) => ({
  txid: txid(fill),
  plan: { inputs: spent.map((one) => ({ outpoint: one, value: 1 })), outputs: [] },
});

describe('the transactions of an order', () => {
  test('can be mined if their inputs can, whatever their kinds and places', () => {
    const commit = made(2, outpoint(1));
    const refund = made(3, outpoint(2, 1));
    // a return, which spends the rest of the refund
    const home = made(4, outpoint(3, 1), outpoint(9));
    const there = new Set([outpoint(1), outpoint(9)]);
    for (const given of [
      [commit, refund, home],
      [home, refund, commit],
      [refund, home, commit],
    ])
      expect(splitOrphans(given, there)).toEqual({ live: [commit, refund, home], orphans: [] });
  });

  test('are orphans if an input is gone, with everything that spends them', () => {
    const kept = made(2, outpoint(1));
    const orphan = made(3, outpoint(2), outpoint(8));
    const child = made(4, outpoint(3));
    expect(splitOrphans([child, orphan, kept], new Set([outpoint(1)]))).toEqual({
      live: [kept],
      orphans: [child, orphan],
    });
  });

  test('may deliver while their inputs are there, and no refund or return of these is deep', () => {
    const commit = { ...made(2, outpoint(1)), kind: 'commit' as const };
    const reveal = { ...made(3, outpoint(2)), kind: 'reveal' as const };
    const there = new Set([outpoint(1)]);
    expect(mayBeDelivered([commit, reveal], [], there)).toBe(true);
    // a refund of another payment does not end the delivery
    expect(mayBeDelivered([commit, reveal], [made(4, outpoint(5))], there)).toBe(true);
    expect(mayBeDelivered([commit, reveal], [made(4, outpoint(1))], there)).toBe(false);
    // a refund that spends outputs of the commit by key
    expect(mayBeDelivered([commit, reveal], [made(4, outpoint(2))], there)).toBe(false);
    expect(mayBeDelivered([commit, reveal], [], new Set())).toBe(false);
    expect(mayBeDelivered([commit], [], there)).toBe(false);
    // the first commit is refunded, and a second one is signed
    const second = [
      { ...made(6, outpoint(7)), kind: 'commit' as const },
      { ...made(8, outpoint(6)), kind: 'reveal' as const },
    ];
    const both = new Set([outpoint(1), outpoint(7)]);
    expect(mayBeDelivered([commit, reveal, ...second], [made(4, outpoint(1))], both)).toBe(true);
  });

  test('can spend bumps that a reorganisation removed, but not those that can never be mined', () => {
    const payment = { txid: txid(1), vout: 2, goneAt: null };
    const gone = { txid: txid(2), vout: 0, goneAt: new Date(0) };
    const bumps = [
      { txid: txid(3), isMined: true, isDead: false },
      { txid: txid(4), isMined: false, isDead: false },
      { txid: txid(5), isMined: false, isDead: true },
    ];
    expect(outputsThere([payment, gone], bumps)).toEqual(new Set([outpoint(1, 2), outpoint(3), outpoint(4)]));
  });
});
