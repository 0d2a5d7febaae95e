import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { asTxid, displayHash, type TxidHex } from '#kernel/primitives/hash.ts';
import { type MempoolTransaction, packageDeficit } from '#psbts/accelerating/package-deficit.ts';
import { propertyRuns } from '#test/support/property-runs.ts';

const idOf = (index: number): TxidHex => displayHash(asTxid(Buffer.alloc(32, index)));
const transaction = (index: number, rate: number, parents: readonly number[] = []): MempoolTransaction => ({
  txid: idOf(index),
  virtualBytes: 100,
  fee: BigInt(rate * 100),
  parents: parents.map(idOf),
});
/** The missing fee at 10 sats per virtual byte, in sats. */
const deficit = (...all: readonly MempoolTransaction[]): number =>
  Number(packageDeficit(all, 10_000n)) / 1000;

describe('the deficit that a child must pay for its ancestors', () => {
  test('everything that they lack', () => {
    expect(deficit(transaction(0, 1), transaction(1, 5, [0]))).toBe(900 + 500);
  });

  test('nothing for one that pays enough itself, or is paid for by its own child', () => {
    expect(deficit(transaction(0, 10), transaction(1, 11, [0]))).toBe(0);
    expect(deficit(transaction(0, 1), transaction(1, 19, [0]), transaction(2, 2, [1]))).toBe(800);
  });

  test('a grandparent that pays much does not pay for its descendants', () => {
    expect(deficit(transaction(0, 100), transaction(1, 1, [0]))).toBe(900);
  });

  test('a surplus goes to the ancestor that no other one can pay for', () => {
    // transaction 3 can pay for both parents, transaction 4 only for the first
    const all = [transaction(0, 1), transaction(1, 1), transaction(3, 19, [0, 1]), transaction(4, 19, [0])];
    expect(deficit(...all)).toBe(0);
    expect(deficit(...all.toReversed())).toBe(0);
  });
});

/** Packages of up to eight transactions. Each may spend any earlier ones. */
const packages = fc
  .array(
    fc.record({
      rate: fc.integer({ min: 0, max: 20 }),
      size: fc.integer({ min: 60, max: 2000 }),
      spends: fc.integer({ min: 0, max: 255 }),
    }),
    { minLength: 1, maxLength: 8 },
  )
  .map((drawn) =>
    drawn.map(({ rate, size, spends }, index): MempoolTransaction => {
      const parents = drawn.flatMap((_, parent) =>
        parent < index && (spends >> parent) % 2 === 1 ? [idOf(parent)] : [],
      );
      return { txid: idOf(index), virtualBytes: size, fee: BigInt(rate * size), parents };
    }),
  );

/** How much the transactions pay a miner above the rate, in thousandths of a sat. */
const beyond = (all: readonly MempoolTransaction[], rate: bigint): bigint =>
  all.reduce((sum, { fee, virtualBytes }) => sum + fee * 1000n - rate * BigInt(virtualBytes), 0n);

test('the deficit is the rest of all if a miner first takes the part that pays most beyond the rate', () => {
  fc.assert(
    fc.property(packages, fc.integer({ min: 1, max: 20_000 }), (all, drawn) => {
      const rate = BigInt(drawn);
      let best = 0n;
      for (let mask = 1; mask < 2 ** all.length; mask++) {
        const part = all.filter((_, index) => (mask >> index) % 2 === 1);
        const own = new Set(part.map(({ txid }) => txid));
        const isClosed = part.every(({ parents }) => parents.every((parent) => own.has(parent)));
        if (isClosed && beyond(part, rate) > best) best = beyond(part, rate);
      }
      expect(packageDeficit(all, rate)).toBe(best - beyond(all, rate));
    }),
    { numRuns: propertyRuns(300) },
  );
});
