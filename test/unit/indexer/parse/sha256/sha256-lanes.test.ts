import { hash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Sha256Lanes } from '#indexer/parse/sha256/sha256-lanes.ts';
import { doubleSha256 } from '#indexer/transaction/double-sha256.ts';
import { propertyRuns } from '#test/support/property-runs.ts';

const sha256 = (bytes: Uint8Array): Buffer => hash('sha256', bytes, 'buffer');

function hashed(messages: readonly Uint8Array[], isDouble: boolean): Buffer[] {
  const rows = { hash: new Uint8Array(messages.length * 32) };
  const lanes = new Sha256Lanes(rows, isDouble);
  messages.forEach((message, row) => lanes.add(message, 0, message.length, row));
  lanes.flush();
  return messages.map((_, row) => Buffer.from(rows.hash.subarray(row * 32, row * 32 + 32)));
}

describe('Sha256Lanes', () => {
  const lengths = Array.from({ length: 2000 }, (_, length) => length).filter((length) =>
    Sha256Lanes.takes(length),
  );

  test('takes messages of up to sixteen blocks', () => {
    expect(lengths.at(-1)).toBe(16 * 64 - 9);
  });

  test.each([
    [false, sha256],
    [true, doubleSha256],
  ] as const)('hashes every length as node:crypto does (double: %s)', (isDouble, reference) => {
    const messages = lengths.map((length) => Buffer.alloc(length, length));
    expect(hashed(messages, isDouble)).toEqual(messages.map((message) => Buffer.from(reference(message))));
  });

  test('hashes messages of any lengths in any order', () => {
    const message = fc.uint8Array({ maxLength: 300 });
    fc.assert(
      fc.property(fc.array(message, { maxLength: 40 }), fc.boolean(), (messages, isDouble) => {
        const reference = isDouble ? doubleSha256 : sha256;
        expect(hashed(messages, isDouble)).toEqual(messages.map((bytes) => Buffer.from(reference(bytes))));
      }),
      { numRuns: propertyRuns(100) },
    );
  });

  test('forgets what waited when it is reset', () => {
    const rows = { hash: new Uint8Array(64) };
    const lanes = new Sha256Lanes(rows, false);
    lanes.add(Buffer.from('left over'), 0, 9, 0);
    lanes.reset();
    lanes.add(Buffer.from('kept'), 0, 4, 1);
    lanes.flush();
    expect(Buffer.from(rows.hash.subarray(0, 32))).toEqual(Buffer.alloc(32));
    expect(Buffer.from(rows.hash.subarray(32))).toEqual(Buffer.from(sha256(Buffer.from('kept'))));
  });
});
