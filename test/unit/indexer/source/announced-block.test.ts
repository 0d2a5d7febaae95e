import { describe, expect, test } from 'vitest';
import { AnnouncedBlock } from '#indexer/source/announced-block.ts';
import { asBlockHash, type BlockHash } from '#kernel/primitives/hash.ts';

const hashOf = (byte: number): BlockHash => asBlockHash(new Uint8Array(32).fill(byte));
const blockOf = (hash: BlockHash) => ({ bytes: hash.slice(), spentOutputs: null, spentHeights: null });
const none = new AbortController().signal;

describe('the announced block', () => {
  test('is given once, and only for its own hash', async () => {
    const announced = new AnnouncedBlock(async (hash) => blockOf(hash));
    expect(await announced.take(hashOf(3))).toBe(null);
    announced.read(hashOf(1), none);
    expect(await announced.take(hashOf(2))).toBe(null);
    expect(await announced.take(hashOf(1))).toEqual(blockOf(hashOf(1)));
    expect(await announced.take(hashOf(1))).toBe(null);
  });

  test('replaces the block before it', async () => {
    const announced = new AnnouncedBlock(async (hash) => blockOf(hash));
    announced.read(hashOf(1), none);
    announced.read(hashOf(2), none);
    expect(await announced.take(hashOf(1))).toBe(null);
    expect(await announced.take(hashOf(2))).toEqual(blockOf(hashOf(2)));
  });

  test('is no longer read once it is replaced, forgotten, or no longer wanted by the caller', async () => {
    const signals: AbortSignal[] = [];
    const announced = new AnnouncedBlock((_, signal) => {
      signals.push(signal);
      return new Promise((__, reject) => {
        signal.addEventListener('abort', () => reject(new Error('aborted')), { once: true });
      });
    });
    const caller = new AbortController();
    for (const byte of [1, 2, 3]) {
      announced.read(hashOf(byte), caller.signal);
      expect(signals.map(({ aborted }) => aborted)).toEqual([...Array<boolean>(byte - 1).fill(true), false]);
    }
    announced.forget();
    expect(signals[2]?.aborted).toBe(true);
    expect(await announced.take(hashOf(3))).toBe(null);
    announced.read(hashOf(4), caller.signal);
    const taken = announced.take(hashOf(4));
    // the taken block is no longer a block that another announcement replaces
    announced.forget();
    expect(signals[3]?.aborted).toBe(false);
    caller.abort();
    expect(await taken).toBe(null);
  });

  test('is not read if the follower has just asked for it', async () => {
    const read: BlockHash[] = [];
    const announced = new AnnouncedBlock(async (hash) => {
      read.push(hash);
      return blockOf(hash);
    });
    await announced.take(hashOf(1));
    announced.read(hashOf(1), none);
    expect(read).toEqual([]);
    expect(await announced.take(hashOf(1))).toBe(null);
    announced.read(hashOf(2), none);
    expect(read).toEqual([hashOf(2)]);
  });

  test('is absent if its read failed, also if no one takes it', async () => {
    const announced = new AnnouncedBlock(() => Promise.reject(new Error('gone')));
    announced.read(hashOf(1), none);
    announced.read(hashOf(2), none);
    expect(await announced.take(hashOf(2))).toBe(null);
  });
});
