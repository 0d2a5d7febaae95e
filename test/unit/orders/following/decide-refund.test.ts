import { describe, expect, test } from 'vitest';
import { displayHash, trustedTxid } from '#kernel/primitives/hash.ts';
import { refundedNow, refundProgress } from '#orders/following/decide-refund.ts';
import type { PlacedMoney } from '#orders/following/place-money.ts';
import type { OwedMoney } from '#orders/ledger/settlements.ts';
import type { OrderState } from '#orders/order/order-machine.ts';
import type { OrderTransaction } from '#orders/order/order-transactions.store.ts';

const txid = (byte: number) => trustedTxid(Buffer.alloc(32, byte));
const refundScript = Buffer.from(`5120${'01'.repeat(32)}`, 'hex');
const payment: OwedMoney = { txid: txid(1), vout: 0, value: 10_000n, owed: 10_000n, at: 'address' };
const excess: OwedMoney = { txid: txid(2), vout: 1, value: 9_000n, owed: 3_000n, at: 'own' };

const noEtching = {
  isUnknown: false,
  isHeld: false,
  minedHeight: null,
  isNameLost: false,
  isGivenUp: false,
  fault: null,
};

describe('a refund now', () => {
  const due = (
    state: OrderState,
    more: {
      readonly refundScript?: Buffer | null;
      readonly isRevealed?: boolean;
      readonly isHoldingParents?: boolean;
      readonly isNameLost?: boolean;
    } = {},
  ): readonly OwedMoney[] => {
    const { isRevealed = true, isHoldingParents = false, isNameLost = false } = more;
    const etching = { ...noEtching, isNameLost };
    return refundedNow(
      { state, refundScript: more.refundScript === undefined ? refundScript : more.refundScript },
      { isRevealed, etching },
      { owed: [payment, excess], isHoldingParents },
    );
  };

  test('spends everything that is owed, once the order waits for it or is delivered', () => {
    expect(due('waiting-refund')).toEqual([payment, excess]);
    expect(due('completed')).toEqual([payment, excess]);
    // the order's reveal etched nothing
    expect(due('error', { isNameLost: true })).toEqual([payment, excess]);
  });

  test.each([
    ['while the order is under way', () => due('queued')],
    ['of an order that failed by itself', () => due('error')],
    ['before the delivery is deep enough', () => due('completed', { isRevealed: false })],
    ['without an address', () => due('waiting-refund', { refundScript: null })],
  ])('is not made %s', (_, made) => {
    expect(made()).toEqual([]);
  });

  test('spends only excess payments while the return of a parent may need the rest', () => {
    expect(due('waiting-refund', { isHoldingParents: true })).toEqual([excess]);
  });
});

describe('the progress of refunds', () => {
  const made = (byte: number, kind: OrderTransaction['kind']): OrderTransaction => ({
    txid: txid(byte),
    kind,
    index: 0,
    files: 0,
    plan: { inputs: [], outputs: [] },
    fee: 0,
    height: null,
    madeAt: new Date(0),
    sentAt: null,
    refusal: null,
  });
  const transactions = [made(1, 'reveal'), made(2, 'return'), made(3, 'refund')];
  const mined = new Set([displayHash(txid(2)), displayHash(txid(3))]);
  const nothing: Pick<PlacedMoney, 'unspentSats' | 'isHoldingDeposits'> = {
    unspentSats: 0n,
    isHoldingDeposits: false,
  };

  test('is null before a refund or a return is stored', () => {
    const reveals = [made(1, 'reveal')];
    expect(refundProgress({ refundScript }, { transactions: reveals, mined }, nothing)).toBeNull();
  });

  test('is deep once all of them are in blocks, and nothing worth a refund is left', () => {
    const progress = (more: Partial<typeof nothing>, script: Buffer | null = refundScript) =>
      refundProgress({ refundScript: script }, { transactions, mined }, { ...nothing, ...more });
    expect(progress({})).toBe('deep');
    // a refund of these sats would be dust
    expect(progress({ unspentSats: 400n })).toBe('deep');
    expect(progress({ unspentSats: 400n }, null)).toBe('sent');
    expect(progress({ unspentSats: 10_000n })).toBe('sent');
    expect(progress({ isHoldingDeposits: true })).toBe('sent');
  });

  test('is sent while one of them is not in a block', () => {
    const some = new Set([displayHash(txid(2))]);
    expect(refundProgress({ refundScript }, { transactions, mined: some }, nothing)).toBe('sent');
  });
});
