import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { BlockWriter } from '#indexer/apply/block-writer.ts';
import { type ChainSession, openChainSession } from '#indexer/apply/chain-session.ts';
import { loadWriterMemory, type WriterMemory } from '#indexer/apply/memory/writer-memory.ts';
import { eventKinds } from '#indexer/derived/event-kinds.ts';
import { blockReader } from '#indexer/source/block-reader.ts';
import { createBufferPool } from '#indexer/source/buffer-pool.ts';
import { openFolderSource } from '#indexer/source/folder-source.ts';
import { createParsePool, type ParsePool } from '#indexer/workers/parse-pool.ts';
import type { BlockSource } from '#kernel/contracts/block-source.ts';
import { asHeight } from '#kernel/primitives/height.ts';
import { networks } from '#kernel/primitives/network.ts';
import { pinFingerprintKey } from '#test/support/chain/chain-dump.ts';
import { GoldenChain } from '#test/support/chain/golden/golden-chain.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { parseThreads } from '#test/support/parse-threads.ts';
import { propertyBounds } from '#test/support/property-runs.ts';

const golden = new GoldenChain('transfers-1');
const { signal } = new AbortController();
let dir: string;
let database: TestDatabase;
let session: ChainSession;
let source: BlockSource;
let parsePool: ParsePool;
/** All contents that ever had a row. A registry is then asked about them. */
const contents = new Map<string, { sha256: Buffer; variant: number }>();

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'satscribe-memory-'));
  golden.writeFolder(dir);
  database = await createTestDatabase();
  await pinFingerprintKey(database.pool, 'regtest');
  source = await openFolderSource(dir);
  session = await openChainSession(database.pool, 'regtest');
  parsePool = createParsePool(createBufferPool(), { threads: parseThreads() });
});
afterAll(async () => {
  await parsePool.close();
  await session.close();
  await database.drop();
  await rm(dir, { recursive: true, force: true });
});

async function applyTo(writer: BlockWriter, height: number, batchBlocks: number): Promise<void> {
  const refs = await source.refs(asHeight((writer.tip?.height ?? -1) + 1));
  const wanted = refs.filter((ref) => ref.height <= height);
  let batch = [];
  for await (const block of parsePool.blocks(source, wanted, session.fingerprintKey, signal)) {
    batch.push(block);
    if (batch.length < batchBlocks) continue;
    await writer.write(batch, false);
    batch = [];
  }
  if (batch.length > 0) await writer.write(batch, false);
  await writer.finish();
}

/** Asserts that memory has the fingerprints of the tables, each as often as the tables, by removing them one by one. */
async function expectEqual(held: WriterMemory, cacheEntries: number): Promise<void> {
  const fresh = await loadWriterMemory(session.reader, cacheEntries);
  expect(held.tracked.size).toBe(fresh.tracked.size);
  const { rows } = await database.pool.query<{ fingerprint: Buffer; unspent: boolean }>(
    `SELECT int8send(outpoint_fingerprint) AS fingerprint, spent_height IS NULL AS unspent
     FROM chain.locations WHERE outpoint_fingerprint IS NOT NULL`,
  );
  for (const { fingerprint } of rows) {
    const halves = [fingerprint.readUInt32BE(4), fingerprint.readUInt32BE(0)] as const;
    expect(held.tracked.has(...halves)).toBe(fresh.tracked.has(...halves));
  }
  // each fingerprint is there as often as in the tables, and the counts are equal, so there are no others
  const unspent = rows.filter(({ unspent: isThere }) => isThere);
  expect(held.tracked.size).toBe(unspent.length);
  for (const { fingerprint } of unspent) {
    held.tracked.remove(fingerprint.readUInt32BE(4), fingerprint.readUInt32BE(0));
  }
  expect(held.tracked.size).toBe(0);
  for (const { fingerprint } of unspent) {
    held.tracked.add(fingerprint.readUInt32BE(4), fingerprint.readUInt32BE(0));
  }
  const stored = await database.pool.query<{ sha256: Buffer; variant: number; content_id: number }>(
    'SELECT sha256, variant, content_id FROM chain.contents',
  );
  const ids = new Map<string, number>();
  for (const { sha256, variant, content_id: id } of stored.rows) {
    const name = `${sha256.toString('hex')} ${variant}`;
    ids.set(name, id);
    contents.set(name, { sha256, variant });
  }
  const unknown = createHash('sha256').update('unknown').digest();
  for (const [name, { sha256, variant }] of [...contents, ['', { sha256: unknown, variant: 0 }] as const]) {
    const id = ids.get(name);
    const found = held.contents.probe(sha256, 0, variant);
    // the id must be right, "no" must be right, and for an unknown hash the registry asks the database
    if (found !== -2) expect(found).toBe(id ?? -1);
    if (fresh.contents.probe(sha256, 0, variant) === id && found === -1) expect(id).toBeUndefined();
  }
}

test('memory after random blocks and undos equals memory read from the tables', async () => {
  const tip = golden.chain.headers.length - 1;
  const walks = fc.record({
    heights: fc.array(fc.integer({ min: 90, max: tip }), { minLength: 2, maxLength: 4 }),
    cacheEntries: fc.constantFrom(8, 64, 4096),
    batchBlocks: fc.integer({ min: 1, max: 30 }),
  });
  await fc.assert(
    fc.asyncProperty(walks, async ({ heights, cacheEntries, batchBlocks }) => {
      const facts = {
        network: networks.regtest,
        islands: await source.islands(),
        eventKinds,
        readBlock: blockReader(source),
      };
      const writer = await BlockWriter.open({ session, facts, cacheEntries });
      for (const height of heights) {
        if (height < (writer.tip?.height ?? -1)) await writer.undo(asHeight(height), []);
        else await applyTo(writer, height, batchBlocks);
        expect(writer.tip?.height).toBe(height);
        await expectEqual(writer.memory, cacheEntries);
      }
    }),
    propertyBounds(2),
  );
});
