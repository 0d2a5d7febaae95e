import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { batchBounds, gather } from '#indexer/follow/gather-batches.ts';
import { createBufferPool } from '#indexer/source/buffer-pool.ts';
import { openFolderSource } from '#indexer/source/folder-source.ts';
import { createParsePool, type ParsedBlock, type ParsePool } from '#indexer/workers/parse-pool.ts';
import { startParseThreads } from '#indexer/workers/parse-threads.ts';
import type { BlockRef, BlockSource, BufferPool } from '#kernel/contracts/block-source.ts';

const regtest = join(import.meta.dirname, '../../../../samples/regtest');
const key = new Uint8Array(32).fill(3);
const never = new AbortController().signal;
const pools: ParsePool[] = [];

afterEach(async () => {
  for (const pool of pools.splice(0)) await pool.close();
});

function poolOf(buffers: BufferPool, threads: number): ParsePool {
  const pool = createParsePool(buffers, { threads });
  pools.push(pool);
  return pool;
}

/** A buffer pool that counts the buffers that are taken and not returned. */
function countedBuffers(): BufferPool & { readonly taken: Set<number>; out: number } {
  const buffers = createBufferPool();
  const counted = {
    taken: new Set<number>(),
    out: 0,
    take(sizeBytes: number): SharedArrayBuffer {
      counted.out++;
      const buffer = buffers.take(sizeBytes);
      counted.taken.add(buffer.byteLength);
      return buffer;
    },
    give(buffer: ArrayBufferLike): void {
      counted.out--;
      expect(buffer.byteLength).toBeGreaterThan(0);
      buffers.give(buffer);
    },
  };
  return counted;
}

const last = <T>(list: readonly T[]): T => list[list.length - 1] as T;

describe('the pool of workers', () => {
  test('uses threads that others use too, before it, beside it and after it is closed', async () => {
    const threads = startParseThreads({ count: 1, isBackground: false, queueMax: 20 });
    try {
      const source = await openFolderSource(regtest);
      const refs = (await source.refs()).slice(0, 20);
      const heightsOf = async (pool: ParsePool): Promise<number[]> => {
        const heights: number[] = [];
        for await (const block of pool.blocks(source, refs, key, never)) {
          heights.push(block.ref.height);
          block.release();
        }
        return heights;
      };
      const expected = refs.map(({ height }) => height);
      const poolOfThreads = (): ParsePool => createParsePool(createBufferPool(), { threads });
      const [first, second] = [poolOfThreads(), poolOfThreads()];
      expect(await Promise.all([heightsOf(first), heightsOf(second)])).toEqual([expected, expected]);
      await first.close();
      await second.close();
      expect(await heightsOf(poolOfThreads())).toEqual(expected);
    } finally {
      await threads.close();
    }
  });

  test.each([1, 2, 3])('with %i threads gives blocks in order, and buffers are reused', async (threads) => {
    const source = await openFolderSource(regtest);
    const refs = await source.refs();
    const buffers = countedBuffers();
    const heights: number[] = [];
    for await (const block of poolOf(buffers, threads).blocks(source, refs, key, never)) {
      heights.push(block.ref.height);
      expect(block.hasSpent).toBe(true);
      expect(Buffer.from(block.columns.header).equals(block.bytes.subarray(0, 80))).toBe(true);
      block.release();
    }
    expect(heights).toEqual(refs.map(({ height }) => height));
    expect(buffers.out).toBe(0);
  });

  test('reads ahead of the taken blocks, up to a bound', async () => {
    const source = await openFolderSource(regtest);
    const refs = (await source.refs()).slice(0, 60);
    let read = 0;
    const counted: BlockSource = {
      ...source,
      read: (ref, signal, buffers) => {
        read++;
        return source.read(ref, signal, buffers);
      },
    };
    let taken = 0;
    for await (const block of poolOf(createBufferPool(), 2).blocks(counted, refs, key, never)) {
      taken++;
      expect(read).toBeGreaterThanOrEqual(Math.min(taken + 8, refs.length));
      expect(read).toBeLessThanOrEqual(taken + 9);
      // gives a reader time in which it could read more
      await new Promise((resolve) => setTimeout(resolve, 2));
      expect(read).toBeLessThanOrEqual(taken + 9);
      block.release();
    }
    expect(read).toBe(refs.length);
  });

  test('gives the blocks before a refused one, then its error', async () => {
    const source = await openFolderSource(regtest);
    const refs = (await source.refs()).slice(0, 20);
    const bad = refs[12] as BlockRef;
    const broken: BlockSource = {
      ...source,
      read: async (ref, signal, buffers) => {
        const block = await source.read(ref, signal, buffers);
        if (ref === bad) block.bytes[50]! ^= 1;
        return block;
      },
    };
    const seen: ParsedBlock[] = [];
    const run = async (): Promise<void> => {
      for await (const block of poolOf(createBufferPool(), 2).blocks(broken, refs, key, never))
        seen.push(block);
    };
    await expect(run()).rejects.toMatchObject({ code: 'block_corrupt', details: { height: bad.height } });
    expect(seen.map(({ ref }) => ref.height)).toEqual(refs.slice(0, 12).map(({ height }) => height));
  });

  test('checks nothing of a trusted source', async () => {
    const source = await openFolderSource(regtest);
    const refs = (await source.refs()).slice(5, 6);
    const trusted: BlockSource = {
      ...source,
      trusted: true,
      read: async (ref, signal, buffers) => {
        const block = await source.read(ref, signal, buffers);
        block.bytes[5]! ^= 1;
        return block;
      },
    };
    const seen: number[] = [];
    for await (const block of poolOf(createBufferPool(), 1).blocks(trusted, refs, key, never)) {
      seen.push(block.ref.height);
    }
    expect(seen).toEqual([last(refs).height]);
  });

  test('ends with the signal, and leaves no work unfinished', async () => {
    const source = await openFolderSource(regtest);
    const controller = new AbortController();
    let underWay = 0;
    const counted: BlockSource = {
      ...source,
      read: async (ref, signal, buffers) => {
        underWay++;
        try {
          return await source.read(ref, signal, buffers);
        } finally {
          underWay--;
        }
      },
    };
    const run = async (): Promise<void> => {
      const blocks = poolOf(createBufferPool(), 2).blocks(
        counted,
        await source.refs(),
        key,
        controller.signal,
      );
      for await (const block of blocks) if (block.ref.height === 10) controller.abort();
    };
    await expect(run()).rejects.toMatchObject({ name: 'AbortError' });
    expect(underWay).toBe(0);
  });
});

test('thousands of tiny blocks use the buffers of one batch again and again', {
  tags: ['proof'],
}, async () => {
  const source = await openFolderSource(regtest);
  const [tiny] = await source.refs();
  const refs = Array.from({ length: 3500 }, () => tiny as BlockRef);
  const buffers = createBufferPool();
  const made = new Set<ArrayBufferLike>();
  const recorded: BufferPool = {
    ...buffers,
    take: (sizeBytes) => {
      const buffer = buffers.take(sizeBytes);
      made.add(buffer);
      return buffer;
    },
  };
  const batches: number[] = [];
  for await (const batch of gather(poolOf(recorded, 1).blocks(source, refs, key, never), batchBounds)) {
    batches.push(batch.length);
    for (const block of batch) block.release();
  }
  expect(batches).toEqual([1000, 1000, 1000, 500]);
  // two buffers for each block (the block and its columns), and those that are read ahead
  expect(made.size).toBeLessThan(2 * 1000 + 20);
  expect([...made].reduce((sum, { byteLength }) => sum + byteLength, 0)).toBeLessThan(10_000_000);
});

describe('the pool of buffers', () => {
  test.each([4096, 65_536, 2 ** 21])('uses all buffers of a full batch again: of %i bytes', (sizeBytes) => {
    const buffers = createBufferPool();
    const count = batchBounds.heldBytesMax / sizeBytes;
    const batch = Array.from({ length: count }, () => buffers.take(sizeBytes));
    for (const buffer of batch) buffers.give(buffer);
    const again = new Set(Array.from({ length: count }, () => buffers.take(sizeBytes)));
    expect(batch.every((buffer) => again.has(buffer))).toBe(true);
  });

  test('forgets the sizes of an earlier part of the chain, not those in use', () => {
    const buffers = createBufferPool();
    const early = Array.from({ length: 700 }, () => buffers.take(65_536));
    for (const buffer of early) buffers.give(buffer);
    const late = Array.from({ length: 12 }, () => buffers.take(2 ** 21));
    for (const buffer of late) buffers.give(buffer);
    const again = Array.from({ length: 12 }, () => buffers.take(2 ** 21));
    expect(late.every((buffer) => again.includes(buffer))).toBe(true);
  });

  test('gives a buffer again that is large enough', () => {
    const buffers = createBufferPool();
    const first = buffers.take(100_000);
    expect(first.byteLength).toBe(131_072);
    buffers.give(first);
    expect(buffers.take(131_072)).toBe(first);
    expect(buffers.take(70_000)).not.toBe(first);
  });

  test('keeps no more than its bound, and no foreign buffer', () => {
    const buffers = createBufferPool();
    const large = Array.from({ length: 20 }, () => buffers.take(4_000_000));
    for (const buffer of large) buffers.give(buffer);
    const again = Array.from({ length: 20 }, () => buffers.take(4_000_000));
    expect(again.filter((buffer) => large.includes(buffer))).toHaveLength(16);
    for (const foreign of [new SharedArrayBuffer(131_072), new ArrayBuffer(131_072)]) {
      buffers.give(foreign);
      expect(buffers.take(100_000)).not.toBe(foreign);
    }
  });
});
