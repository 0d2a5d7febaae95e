import fc from 'fast-check';
import { expect, test } from 'vitest';
import { positionInProof } from '#http/ord/sources/merkle-proof.ts';
import { asTxid, type Txid } from '#kernel/primitives/hash.ts';
import { doubleHash } from '#test/builders/merkle.ts';
import { propertyRuns } from '#test/support/property-runs.ts';

/** Makes the txids of a block. */
const txidsOf = (count: number): Txid[] =>
  Array.from({ length: count }, (_, at) => asTxid(doubleHash(Buffer.from(`transaction ${at}`))));

const compactSize = (value: number): Buffer =>
  value < 0xfd ? Buffer.from([value]) : Buffer.from([0xfd, value & 0xff, value >> 8]);

/** Makes a proof of one transaction with the recursion of Bitcoin Core's `TraverseAndBuild` (merkleblock.cpp). */
function proofOf(txids: readonly Txid[], proven: number): Buffer {
  const levels: Uint8Array[][] = [[...txids]];
  for (let below = levels[0]!; below.length > 1; below = levels.at(-1)!) {
    const parents = Array.from({ length: Math.ceil(below.length / 2) }, (_, at) =>
      doubleHash(Buffer.concat([below[2 * at]!, below[2 * at + 1] ?? below[2 * at]!])),
    );
    levels.push(parents);
  }
  const bits: boolean[] = [];
  const hashes: Uint8Array[] = [];
  const walk = (level: number, at: number): void => {
    const isOnWay = proven >> level === at;
    bits.push(isOnWay);
    if (level === 0 || !isOnWay) {
      hashes.push(levels[level]![at]!);
      return;
    }
    walk(level - 1, 2 * at);
    if (2 * at + 1 < levels[level - 1]!.length) walk(level - 1, 2 * at + 1);
  };
  walk(levels.length - 1, 0);
  const flags = Buffer.alloc(Math.ceil(bits.length / 8));
  for (const [at, bit] of bits.entries()) if (bit) flags[at >> 3]! |= 1 << (at & 7);
  const count = Buffer.alloc(4);
  count.writeUInt32LE(txids.length);
  return Buffer.concat([
    Buffer.alloc(80, 7),
    count,
    compactSize(hashes.length),
    ...hashes,
    compactSize(flags.length),
    flags,
  ]);
}

test('a proof has only the position of its own transaction', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 600 }), fc.nat(), (count, any) => {
      const txids = txidsOf(count);
      const proven = any % count;
      const proof = proofOf(txids, proven);
      expect(positionInProof(proof, txids[proven]!)).toBe(proven);
      if (count > 1) expect(positionInProof(proof, txids[(proven + 1) % count]!)).toBeNull();
    }),
    { numRuns: propertyRuns(100) },
  );
});

test('any other bytes are not a proof', () => {
  const txids = txidsOf(40);
  const proof = proofOf(txids, 11);
  for (let length = 0; length < proof.length; length++)
    expect(positionInProof(proof.subarray(0, length), txids[11]!)).toBeNull();
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.nat({ max: proof.length - 81 }), fc.integer({ min: 0, max: 255 })), {
        minLength: 1,
        maxLength: 20,
      }),
      (changes) => {
        const changed = Buffer.from(proof);
        for (const [at, byte] of changes) changed[80 + at] = byte;
        const position = positionInProof(changed, txids[11]!);
        expect(position === null || (position >= 0 && position < changed.readUInt32LE(80))).toBe(true);
      },
    ),
    { numRuns: propertyRuns(200) },
  );
});
