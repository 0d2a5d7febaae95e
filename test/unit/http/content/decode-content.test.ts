import { randomBytes } from 'node:crypto';
import { brotliCompressSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { decodeContent } from '#http/content/decode-content.ts';

const encoders = { br: brotliCompressSync, gzip: gzipSync, zstd: zstdCompressSync } as const;
type Encoding = keyof typeof encoders;

async function* inPieces(bytes: Buffer, length = 1_000): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += length) yield bytes.subarray(at, at + length);
}

/** Decodes a stream. Returns how the decoding ended, and the decoded bytes. */
async function decoded(
  encoding: Encoding,
  pieces: AsyncIterable<Buffer>,
  countMax = 1_000_000,
): Promise<[string, Buffer]> {
  const chunks: Buffer[] = [];
  const end = await decodeContent(encoding, pieces, (chunk) => {
    chunks.push(chunk);
    return chunks.reduce((sum, { length }) => sum + length, 0) <= countMax;
  });
  return [end, Buffer.concat(chunks)];
}

describe.each(['br', 'gzip', 'zstd'] as const)('%s', (encoding) => {
  const encode = encoders[encoding];

  test.each([
    ['short', Buffer.from('short')],
    ['of many pieces', randomBytes(300_000)],
    ['of pieces that end where it does', randomBytes(3_000)],
  ])('that is %s is decoded', async (_name, bytes) => {
    for (const length of [1, 1_000, 1_000_000]) {
      const pieces = inPieces(encode(bytes), bytes.length > 10_000 && length === 1 ? 777 : length);
      const [end, all] = await decoded(encoding, pieces);
      expect([end, all.equals(bytes)]).toEqual(['whole', true]);
    }
  });

  test('is not decoded further than wanted', async () => {
    const bomb = encode(Buffer.alloc(30_000_000));
    expect(bomb.length).toBeLessThan(40_000);
    const [end, { length }] = await decoded(encoding, inPieces(bomb), 100_000);
    expect(end).toBe('enough');
    expect(length).toBeLessThan(200_000);
  });

  test('is broken if it is cut off, empty, or of another encoding', async () => {
    const bytes = encode(randomBytes(5_000));
    expect((await decoded(encoding, inPieces(bytes.subarray(0, -5))))[0]).toBe('broken');
    expect((await decoded(encoding, inPieces(Buffer.from('something else, without an encoding'))))[0]).toBe(
      'broken',
    );
    expect((await decoded(encoding, inPieces(Buffer.alloc(0))))[0]).toBe('broken');
  });

  test('with bytes after its end is decoded completely, or broken: browsers may continue', async () => {
    const both = Buffer.concat([encode(Buffer.from('small')), encode(Buffer.alloc(1_000_000))]);
    for (const length of [10, both.length]) {
      const [end, { length: decodedBytes }] = await decoded(encoding, inPieces(both, length), 2_000_000);
      expect([end, decodedBytes]).toEqual(
        encoding === 'gzip' ? ['whole', 1_000_005] : ['broken', expect.any(Number)],
      );
    }
  });

  test('throws the errors of the source', async () => {
    const start = encode(randomBytes(5_000)).subarray(0, 2_000);
    async function* failing(): AsyncGenerator<Buffer> {
      yield start;
      throw new Error('the database is gone');
    }
    await expect(decoded(encoding, failing())).rejects.toThrow('the database is gone');
  });
});
