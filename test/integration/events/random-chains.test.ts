import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Block } from 'bitcoinjs-lib';
import type pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { follow } from '#indexer/follow/follow.ts';
import { openFolderSource } from '#indexer/source/folder-source.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import { regtestGenesis } from '#test/builders/block.ts';
import { BlockFolder, SpentWriter } from '#test/builders/block-folder.ts';
import type { ModelBlock } from '#test/chaos/chain/chain-state.ts';
import { RandomBlocks } from '#test/chaos/chain/random-blocks.ts';
import { readHashes, readOutbox, textsOfTables } from '#test/support/chain/events/event-rows.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { parseThreads } from '#test/support/parse-threads.ts';
import { propertyRuns } from '#test/support/property-runs.ts';

let root: string;
const databases: TestDatabase[] = [];

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'satscribe-random-'));
});
afterEach(async () => {
  for (const made of databases.splice(0)) await made.drop();
});
afterAll(() => rm(root, { recursive: true, force: true }));

async function fresh(): Promise<pg.Pool> {
  const made = await createTestDatabase();
  databases.push(made);
  return made.pool;
}

async function index(pool: pg.Pool, dir: string, keep?: number): Promise<void> {
  const source = await openFolderSource(dir);
  await follow({
    source,
    pool,
    signal: new AbortController().signal,
    threads: parseThreads(),
    ...(keep === undefined ? {} : { eventsKeepBlocks: keep }),
  });
}

/** Writes a chain as a folder, with the outputs that its blocks spend. */
function writeFolder(dir: string, chain: readonly ModelBlock[]): void {
  const folder = new BlockFolder(dir);
  const outputs = new Map<string, { value: number; script: Uint8Array }>();
  folder.add(0, regtestGenesis, new SpentWriter().finish());
  for (const { block } of chain) {
    const spent = new SpentWriter();
    for (const [at, transaction] of (
      Block.fromBuffer(Buffer.from(block.bytes)).transactions ?? []
    ).entries()) {
      const inputs = at === 0 ? [] : transaction.ins;
      if (at > 0) {
        spent.add(
          inputs.map(({ hash, index: vout }) => outputs.get(`${Buffer.from(hash).toString('hex')}:${vout}`)!),
        );
      }
      const txid = Buffer.from(transaction.getHash()).toString('hex');
      transaction.outs.forEach(({ value, script }, vout) =>
        outputs.set(`${txid}:${vout}`, { value: Number(value), script }),
      );
    }
    folder.add(block.height, block, spent.finish());
  }
  folder.finish(false, {});
}

/** Two chains that separate some blocks before their ends. One is shorter, and one is longer. */
function fork(seed: string): [ModelBlock[], ModelBlock[]] {
  const random = new RandomBlocks(seed);
  const grow = (chain: ModelBlock[], count: number): ModelBlock[] => {
    const made = [...chain];
    for (let added = 0; added < count; added++) made.push(random.next(made.at(-1)!.after, []));
    return made;
  };
  const common = grow(random.base(), 20);
  return [grow(common, 8), grow(common, 11)];
}

const seeds = Array.from({ length: propertyRuns(1) }, (_, at) => `chain ${at + 1}`);

describe.each(seeds)('a random chain: %s', (seed) => {
  test('has the same text from the ledger and the tables, and after a reorganisation the hashes of a clean index', async () => {
    const [short, long] = fork(seed);
    const pool = await fresh();
    for (const [name, chain] of [
      ['short', short],
      ['long', long],
    ] as const) {
      const dir = join(root, `${seed}-${name}`);
      writeFolder(dir, chain);
      await index(pool, dir);
      const rows = await readOutbox(pool);
      const cancelled = new Set(rows.map(({ cancels }) => cancels));
      const applied = rows.filter(({ sequence, cancels }) => cancels === null && !cancelled.has(sequence));
      const tables = await textsOfTables(pool, 'regtest');
      expect(applied.map(({ height, text, count }) => ({ height, text, count }))).toEqual(
        tables.map(({ height, text, count }) => ({ height, text, count })),
      );
      expect(tables.at(-1)?.height).toBe(chain.at(-1)?.block.height);
      expect(rows.at(-1)?.hash).toBe(displayHash(chain.at(-1)!.block.hash));
      expect(tables.map(({ text }) => text).join('')).toMatch(/^transferred /mu);
    }
    const clean = await fresh();
    await index(clean, join(root, `${seed}-long`));
    expect(await readHashes(pool)).toEqual(await readHashes(clean));
    expect((await readOutbox(pool)).filter(({ cancels }) => cancels !== null)).toHaveLength(8);
  });
});

test('only the newest blocks keep their texts, and those that were taken back as long as their height does', async () => {
  const [short, long] = fork('kept');
  for (const [name, chain] of [
    ['kept-short', short],
    ['kept-long', long],
  ] as const) {
    writeFolder(join(root, name), chain);
  }
  const pool = await fresh();
  const keptHeights = async (): Promise<number[]> =>
    (await readOutbox(pool)).filter(({ text }) => text !== null).map(({ height }) => height);
  const tip = short.at(-1)!.block.height;
  await index(pool, join(root, 'kept-short'), 10);
  expect(await keptHeights()).toEqual(Array.from({ length: 10 }, (_, at) => tip - 9 + at));
  // eight blocks are taken back and eleven are added, which makes three more heights
  await index(pool, join(root, 'kept-long'), 10);
  const kept = await keptHeights();
  const higher = Array.from({ length: 10 }, (_, at) => tip - 6 + at);
  expect(kept.slice(-10)).toEqual(higher);
  expect(kept.slice(0, -10)).toEqual(Array.from({ length: 7 }, (_, at) => tip - 6 + at));
});
