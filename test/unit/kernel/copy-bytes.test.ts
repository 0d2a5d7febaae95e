import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { copyBytes } from '#kernel/copy-bytes.ts';

const lengthMax = 200;

function room(isShared: boolean): Uint8Array {
  return new Uint8Array(isShared ? new SharedArrayBuffer(lengthMax) : new ArrayBuffer(lengthMax));
}

describe('copied bytes', () => {
  test('are those of the source and no others, in shared memory and outside of it, also whole sources', () => {
    fc.assert(
      fc.property(
        fc.boolean(),
        fc.boolean(),
        fc.uint8Array({ maxLength: lengthMax }),
        fc.nat(lengthMax),
        fc.nat(lengthMax),
        fc.nat(lengthMax),
        (fromShared, toShared, bytes, before, after, at) => {
          const source = room(fromShared).subarray(0, bytes.length);
          source.set(bytes);
          const start = Math.min(before, bytes.length);
          const length = Math.max(0, bytes.length - start - after);
          const target = room(toShared).fill(7);
          const to = Math.min(at, lengthMax - length);
          copyBytes(source, start, length, target, to);
          const expected = new Uint8Array(lengthMax).fill(7);
          expected.set(bytes.subarray(start, start + length), to);
          expect(Buffer.compare(target, expected)).toBe(0);
        },
      ),
    );
  });

  test('are never fewer than requested: a source or target that is too short is an error', () => {
    for (const length of [10, 100]) {
      expect(() => copyBytes(room(false), 0, length, room(true), lengthMax - length + 1)).toThrow(RangeError);
      expect(() => copyBytes(room(true), lengthMax - length + 1, length, room(false), 0)).toThrow(RangeError);
    }
  });
});
