import { randomBytes } from 'node:crypto';
import { brotliCompressSync, gzipSync, zstdCompressSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cutText, decodedStart } from '#search/text/stored-text.ts';

describe('the beginning of a stored text', () => {
  test.each([
    [0, 'as it is', (bytes: Uint8Array) => bytes],
    [1, 'br', brotliCompressSync],
    [2, 'gzip', gzipSync],
    [3, 'zstd', zstdCompressSync],
  ])('is that of the decoded body (variant %i, %s)', async (variant, _, encode) => {
    const noise = randomBytes(60_000);
    for (const decoded of [Buffer.alloc(0), Buffer.from('abc'), Buffer.alloc(500_000, 'xyz'), noise]) {
      for (const searchable of [0, 8]) {
        const body = encode(decoded);
        // `equals`, because toEqual takes a second for half a megabyte
        expect(decoded.equals(await decodedStart(body, variant + searchable, 1 << 30))).toBe(true);
        const start = await decodedStart(body, variant + searchable, 1000);
        expect(decoded.subarray(0, 1000).equals(start)).toBe(true);
      }
    }
    // only the start of the body is given
    const start = await decodedStart(encode(noise).subarray(0, 5000), variant, 1000);
    expect(noise.subarray(0, start.length)).toEqual(Buffer.from(start));
  });

  test('is cut at the border of a code point', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 20 }), fc.nat({ max: 60 }), (text, bytesMax) => {
        const cut = cutText(Buffer.from(text), bytesMax);
        expect(text.startsWith(cut)).toBe(true);
        expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(bytesMax);
        const next = Array.from(text.slice(cut.length))[0] ?? '';
        expect(next === '' || Buffer.byteLength(cut + next) > bytesMax).toBe(true);
      }),
    );
  });

  test('keeps a byte order mark and NUL', () => {
    expect(cutText(Buffer.from('\ufeffa\0b'), 100)).toBe('\ufeffa\0b');
  });
});
