import { createHash } from 'node:crypto';
import { Transaction } from 'bitcoinjs-lib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { TransactionPlan } from '#kernel/contracts/transaction-plan.ts';
import { findLockTime, lockTimeEnd, lockTimeFirst } from '#orders/grinding/find-lock-time.ts';
import { propertyRuns } from '#test/support/property-runs.ts';
import { inputOf, orderLeaf, plainInputs, testWallet } from '#test/support/wallet/plans.ts';
import { unsignedTransaction } from '#wallet/encode-transaction.ts';

const { wallet, signer } = testWallet();

const prefix = (maxLength: number): fc.Arbitrary<string> =>
  fc.string({
    unit: fc.nat({ max: 15 }).map((digit) => digit.toString(16)),
    minLength: 1,
    maxLength,
  });

const sha256 = (bytes: Uint8Array): Buffer => createHash('sha256').update(bytes).digest();

/** The txid (in display order) of bytes that end with this lock time. */
function txidWith(unsigned: Uint8Array, lockTime: number): string {
  const bytes = Buffer.from(unsigned);
  bytes.writeUInt32LE(lockTime, bytes.length - 4);
  return sha256(sha256(bytes)).reverse().toString('hex');
}

/** A reveal with one output more than it has receivers. */
const reveal: fc.Arbitrary<TransactionPlan> = fc
  .record({
    body: fc.uint8Array({ maxLength: 600 }),
    inputs: fc.integer({ min: 1, max: 4 }),
    receivers: fc.array(fc.uint8Array({ minLength: 20, maxLength: 20 }), { minLength: 1, maxLength: 6 }),
  })
  .map(({ body, inputs, receivers }) => {
    const leafScript = orderLeaf(wallet, 3, body);
    const spent = Array.from({ length: inputs }, (_, place) => ({
      ...inputOf(wallet, place, {
        key: { branch: 0, index: 3 },
        leafScript,
        value: 10_000n,
        path: place === 0 ? ('leaf' as const) : ('key' as const),
      }),
      sequence: 0xffff_fffd,
    }));
    const outputs = receivers.map((hash) => ({
      kind: 'postage' as const,
      script: Uint8Array.of(0, 20, ...hash),
      value: 546n,
    }));
    const feeMax = BigInt(inputs) * 10_000n;
    return { version: 2, lockTime: 0, inputs: spent, outputs, feeMax };
  });

describe('a lock time for a prefix', () => {
  test('gives the txid of the signed transaction its prefix, and is in the past of every network', () => {
    fc.assert(
      fc.property(reveal, prefix(3), (plan, wanted) => {
        const lockTime = findLockTime(unsignedTransaction(plan).bytes, wanted);
        expect(lockTime).toBeGreaterThanOrEqual(500_000_000);
        expect(lockTime).toBeLessThan(1_231_006_505);
        const { bytes } = signer.signPlan({ ...plan, lockTime }, plainInputs(plan));
        const signed = Transaction.fromBuffer(Uint8Array.from(bytes));
        expect(signed.getId().slice(0, wanted.length)).toBe(wanted);
        expect(signed.locktime).toBe(lockTime);
        // if all sequences were final, the lock time would have no effect
        expect(signed.ins.every(({ sequence }) => sequence < 0xffff_ffff)).toBe(true);
      }),
      { numRuns: propertyRuns(40) },
    );
  });

  test('is the first one, whatever its position in the blocks of the hash', () => {
    const message = fc.uint8Array({ minLength: 4, maxLength: 260 });
    fc.assert(
      fc.property(message, prefix(2), (unsigned, wanted) => {
        let first = lockTimeFirst;
        while (!txidWith(unsigned, first).startsWith(wanted)) first++;
        expect(findLockTime(unsigned, wanted)).toBe(first);
      }),
      { numRuns: propertyRuns(60) },
    );
  });

  test.each([...Array(130).keys()].map((more) => more + 4))('is right for %i bytes', (length) => {
    const unsigned = new Uint8Array(length).fill(length);
    expect(txidWith(unsigned, findLockTime(unsigned, '7'))).toMatch(/^7/u);
  });

  test('of four characters is found', () => {
    for (const wanted of ['0000', 'ffff', 'beef', '00ff']) {
      const unsigned = Buffer.alloc(137, wanted);
      expect(txidWith(unsigned, findLockTime(unsigned, wanted)).slice(0, 4)).toBe(wanted);
    }
  });

  test('does not depend on the lock time that the bytes have', () => {
    const unsigned = Buffer.alloc(94, 7);
    const found = findLockTime(unsigned, 'abc');
    unsigned.writeUInt32LE(found, 90);
    expect(findLockTime(unsigned, 'abc')).toBe(found);
  });

  test('is below the time of the first block of all networks', () => {
    expect(lockTimeEnd).toBe(Date.UTC(2009, 0, 3, 18, 15, 5) / 1000);
  });

  test.each(['', 'abcde', 'AB', 'xy'])('is not searched for the prefix %j', (wanted) => {
    expect(() => findLockTime(new Uint8Array(94), wanted)).toThrow(/a prefix/u);
  });
});
