import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { BlockRef, BlockSource, BufferPool } from '#kernel/contracts/block-source.ts';
import { asBlockHash } from '#kernel/primitives/hash.ts';
import { asHeight } from '#kernel/primitives/height.ts';
import { networkNames } from '#kernel/primitives/network.ts';

export interface SourceUnderTest {
  /**
   * A function that opens a source with at least three consecutive blocks, and the facts that the source must match.
   */
  readonly open: () => Promise<BlockSource>;
  readonly expected: {
    /** The blocks of the chain, ascending, with hashes in display order. */
    readonly refs: readonly { readonly height: number; readonly hash: string }[];
    readonly islands: readonly (readonly [firstHeight: number, lastHeight: number])[];
    /** Heights of blocks whose spent outputs the source has. */
    readonly withSpent: readonly number[];
  };
}

const shown = ({ height, hash }: BlockRef): { height: number; hash: string } => ({
  height,
  hash: Buffer.from(hash).reverse().toString('hex'),
});
const sha256 = (bytes: Uint8Array): Buffer => createHash('sha256').update(bytes).digest();

/** Tests the requirements that every BlockSource must meet. */
export function describeBlockSource(name: string, { open, expected }: SourceUnderTest): void {
  const withSource = async (use: (source: BlockSource) => Promise<void>): Promise<void> => {
    const source = await open();
    try {
      await use(source);
    } finally {
      await source.close();
    }
  };

  describe(`${name} as a block source`, () => {
    test('says its kind and its network', () =>
      withSource((source) => {
        expect(source.name).not.toBe('');
        expect(networkNames).toContain(source.network);
        return Promise.resolve();
      }));

    test('gives its chain ascending', () =>
      withSource(async (source) => {
        expect((await source.refs()).map(shown)).toEqual(expected.refs);
      }));

    test('gives the chain from a height on, and nothing above its tip', () =>
      withSource(async (source) => {
        const middle = expected.refs[Math.floor(expected.refs.length / 2)]!.height;
        const above = expected.refs.at(-1)!.height + 1;
        expect((await source.refs(asHeight(middle))).map(shown)).toEqual(
          expected.refs.filter(({ height }) => height >= middle),
        );
        expect(await source.refs(asHeight(above))).toEqual([]);
      }));

    test('gives the runs of consecutive blocks, which together are the chain', () =>
      withSource(async (source) => {
        const islands = await source.islands();
        expect(islands.map(({ firstHeight, lastHeight }) => [firstHeight, lastHeight])).toEqual(
          expected.islands,
        );
        const heights = islands.flatMap(({ firstHeight, lastHeight }) =>
          Array.from({ length: lastHeight - firstHeight + 1 }, (_, index) => firstHeight + index),
        );
        expect(heights).toEqual(expected.refs.map(({ height }) => height));
      }));

    test('reads the blocks that it names, linked within an island', () =>
      withSource(async (source) => {
        let previous: BlockRef | null = null;
        for (const ref of await source.refs()) {
          const block = await source.read(ref);
          const header = block.bytes.subarray(0, 80);
          expect(sha256(sha256(header)).equals(ref.hash)).toBe(true);
          if (previous?.height === ref.height - 1) {
            expect(Buffer.from(header.subarray(4, 36)).equals(previous.hash)).toBe(true);
          }
          previous = ref;
        }
      }));

    test('has spent outputs for one entry a transaction, the coinbase with none, or says that it has none', () =>
      withSource(async (source) => {
        const withSpent: number[] = [];
        for (const ref of await source.refs()) {
          const { spentOutputs } = await source.read(ref);
          if (spentOutputs === null) continue;
          withSpent.push(ref.height);
          // the entry of the coinbase comes directly after the count of transactions
          const width = spentOutputs[0]! < 0xfd ? 1 : 3;
          expect(spentOutputs[width]).toBe(0);
        }
        expect(withSpent).toEqual(expected.withSpent);
      }));

    test('reads into the buffers that it is given, which may be larger', () =>
      withSource(async (source) => {
        const taken: ArrayBufferLike[] = [];
        const buffers: BufferPool = {
          take: (sizeBytes) => {
            const buffer = new SharedArrayBuffer(sizeBytes + 100);
            new Uint8Array(buffer).fill(0xaa);
            taken.push(buffer);
            return buffer;
          },
          give: () => undefined,
        };
        const ref = (await source.refs()).at(-1)!;
        const plain = await source.read(ref);
        const pooled = await source.read(ref, undefined, buffers);
        expect(Buffer.from(pooled.bytes).equals(plain.bytes)).toBe(true);
        expect(taken).toContain(pooled.bytes.buffer);
      }));

    test('gives each reader a buffer of its own', () =>
      withSource(async (source) => {
        const ref = (await source.refs()).at(-1)!;
        const first = await source.read(ref);
        const before = Buffer.from(first.bytes);
        first.bytes.fill(0);
        expect(Buffer.compare((await source.read(ref)).bytes, before)).toBe(0);
      }));

    test('refuses a block that it does not have', () =>
      withSource(async (source) => {
        await expect(
          source.read({ height: asHeight(1), hash: asBlockHash(new Uint8Array(32)) }),
        ).rejects.toMatchObject({
          code: 'block_unavailable',
        });
      }));

    test('does not read for a caller that gave up', () =>
      withSource(async (source) => {
        const ref = (await source.refs()).at(-1)!;
        await expect(source.read(ref, AbortSignal.abort())).rejects.toMatchObject({ name: 'AbortError' });
      }));
  });
}
