import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parseBefore } from '#bench/follow/parsed-before.ts';
import type { FactSet } from '#indexer/facts/fact.ts';
import { createBufferPool } from '#indexer/source/buffer-pool.ts';
import { openFolderSource } from '#indexer/source/folder-source.ts';
import { createParsePool } from '#indexer/workers/parse-pool.ts';
import type { ParseThreads } from '#indexer/workers/parse-threads.ts';
import type { BlockSource } from '#kernel/contracts/block-source.ts';
import { parseThreads } from '#test/support/parse-threads.ts';

const regtest = join(import.meta.dirname, '../../../samples/regtest');
const fingerprintKey = new Uint8Array(32).fill(3);
const facts: FactSet = new Set(['coin-flow', 'spent-scripts', 'runestone-candidates', 'signatures']);

/** Returns what a follower sees of each block. */
async function parsed(source: BlockSource, threads: ParseThreads): Promise<unknown[]> {
  const pool = createParsePool(createBufferPool(), { threads, facts });
  const seen: unknown[] = [];
  const signal = new AbortController().signal;
  for await (const block of pool.blocks(source, await source.refs(), fingerprintKey, signal)) {
    const { ref, bytes, hasSpent, facts: read } = block;
    // gaps in the arena are never written, so only its length is compared
    const { arena, ...columns } = block.columns;
    seen.push({ ref, bytes, hasSpent, read, columns, arenaBytes: arena.length });
  }
  return seen;
}

test('blocks that were parsed before are those that a follower would have parsed', {
  tags: ['proof'],
}, async () => {
  const source = await openFolderSource(regtest);
  const before = await parseBefore(source, { fingerprintKey, facts });
  expect(await before.source.refs()).toEqual(await source.refs());
  expect(await before.source.islands()).toEqual(await source.islands());
  const expected = await parsed(source, parseThreads());
  expect(await parsed(before.source, before.threads)).toEqual(expected);
  const sizes = (await Promise.all((await source.refs()).map((ref) => source.read(ref)))).map(
    ({ bytes }) => bytes.length,
  );
  expect(before.bytes).toBe(sizes.reduce((sum, size) => sum + size, 0));
});
