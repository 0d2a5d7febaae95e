import type pg from 'pg';
import { BlockWriter } from '#indexer/apply/block-writer.ts';
import { openChainSession } from '#indexer/apply/chain-session.ts';
import { factsOf } from '#indexer/derived/derived-batch.ts';
import { eventKindsOf } from '#indexer/derived/event-kinds.ts';
import { createBufferPool } from '#indexer/source/buffer-pool.ts';
import { openFolderSource } from '#indexer/source/folder-source.ts';
import { createParsePool, type ParsedBlock } from '#indexer/workers/parse-pool.ts';
import type { BlockRef } from '#kernel/contracts/block-source.ts';
import { asHeight } from '#kernel/primitives/height.ts';
import { networks } from '#kernel/primitives/network.ts';
import { armSeam, disarmFailpoint, type Seam } from '#kernel/process/failpoint.ts';
import { parseThreads } from '#test/support/parse-threads.ts';
import { pinFingerprintKey, testFingerprintKey } from './chain-dump.ts';
import { createDerivedTestTables, testDerivedTables } from './derived/test-derived-tables.ts';

/**
 * Parses the blocks of a folder once for many writers.
 *
 * @param tip default: the tip of the folder
 */
export async function parseFolder(dir: string, tip?: string): Promise<ParsedBlock[]> {
  const source = await openFolderSource(dir, tip === undefined ? {} : { tip });
  const pool = createParsePool(createBufferPool(), {
    threads: parseThreads(),
    facts: factsOf(testDerivedTables),
  });
  const { signal } = new AbortController();
  const refs = await source.refs(asHeight(0));
  const blocks: ParsedBlock[] = [];
  for await (const block of pool.blocks(source, refs, testFingerprintKey, signal)) {
    // does not release the block, because the next writer needs it too
    blocks.push({ ...block, release: () => undefined });
  }
  await pool.close();
  return blocks;
}

export interface BatchedWrite {
  /** Sizes of the batches, in order. */
  readonly sizes: readonly number[];
  /**
   * Seam where each batch waits until the next batch is applied. If `null`, the next batch waits until this one is
   * committed.
   */
  readonly overlappedAt: Seam | null;
  readonly cacheEntries?: number;
  readonly checksSpends?: boolean;
}

/**
 * Writes all blocks into an empty database like a load, with the derived tables of tests. Returns how many batches were
 * at the seam while no successor was decided. Only the last batch has no successor.
 */
export async function writeInBatches(
  pool: pg.Pool,
  blocks: readonly ParsedBlock[],
  { sizes, overlappedAt, ...options }: BatchedWrite,
): Promise<number> {
  const batches = inBatches(blocks, sizes);
  let alone = batches.length;
  const holdNext = (): void => {
    // the last batch has no successor
    if (overlappedAt === null || alone === 1) return;
    armSeam(overlappedAt, 1, () => {
      alone--;
      holdNext();
    });
  };
  await pinFingerprintKey(pool, 'regtest');
  await createDerivedTestTables(pool);
  const session = await openChainSession(
    pool,
    'regtest',
    { indexAddresses: true, indexRunes: true, indexSats: true, indexSales: true },
    testDerivedTables,
  );
  try {
    const facts = {
      network: networks.regtest,
      islands: [],
      eventKinds: eventKindsOf(testDerivedTables),
      readBlock: ({ height }: BlockRef) => Promise.resolve(blocks[height]!.bytes),
    };
    const writer = await BlockWriter.open({ session, facts, ...options });
    holdNext();
    for (const [at, batch] of batches.entries()) {
      await writer.write(batch, at < batches.length - 1);
      if (overlappedAt === null) await writer.finish();
    }
    await writer.finish();
  } finally {
    disarmFailpoint();
    await session.close();
  }
  return alone;
}

function inBatches(blocks: readonly ParsedBlock[], sizes: readonly number[]): ParsedBlock[][] {
  const batches: ParsedBlock[][] = [];
  for (let from = 0; from < blocks.length; ) {
    const size = sizes[batches.length % sizes.length] ?? blocks.length;
    batches.push(blocks.slice(from, from + size));
    from += size;
  }
  return batches;
}
