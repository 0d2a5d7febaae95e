import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { storedRuneKind } from '#chain/events/rune-texts.queries.ts';
import { storedSaleKind } from '#chain/events/sale-texts.queries.ts';
import { completeEventHashes } from '#indexer/apply/complete-event-hashes.ts';
import { eventKinds } from '#indexer/derived/event-kinds.ts';
import { follow } from '#indexer/follow/follow.ts';
import { openFolderSource } from '#indexer/source/folder-source.ts';
import { networks } from '#kernel/primitives/network.ts';
import { referenceEvents } from '#test/support/chain/events/event-reference.ts';
import { readHashes, readOutbox, textsOfTables } from '#test/support/chain/events/event-rows.ts';
import { GoldenChain, goldenChainNames } from '#test/support/chain/golden/golden-chain.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { parseThreads } from '#test/support/parse-threads.ts';

const samples = join(import.meta.dirname, '../../../samples');
let root: string;
let database: TestDatabase;

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'satscribe-events-'));
});
beforeEach(async () => {
  database = await createTestDatabase();
});
afterEach(() => database.drop());
afterAll(() => rm(root, { recursive: true, force: true }));

async function index(pool: pg.Pool, dir: string, tip?: string): Promise<void> {
  const source = await openFolderSource(dir, tip === undefined ? {} : { tip });
  // all blocks keep their texts, so that the texts can be compared
  const signal = new AbortController().signal;
  await follow({ source, pool, signal, threads: parseThreads(), eventsKeepBlocks: 1_000_000 });
}

const folderOf = (name: string): string => {
  const dir = join(root, name);
  new GoldenChain(name).writeFolder(dir);
  return dir;
};

const sha256 = (text: string): string => createHash('sha256').update(text, 'latin1').digest('hex');

/** Asserts that the stored text of every block equals the text from the tables, and that all hashes are right. */
async function compare(
  pool: pg.Pool,
  network: 'regtest' | 'mainnet',
): Promise<{ known: number; unknown: number }> {
  const outbox = await readOutbox(pool);
  const tables = await textsOfTables(pool, network);
  const hashes = await readHashes(pool);
  expect(outbox.map(({ text }) => text)).toEqual(tables.map(({ text }) => text));
  expect(outbox.map(({ sequence }) => sequence)).toEqual(outbox.map((_, at) => at + 1));
  let previous = Buffer.alloc(32);
  let known = 0;
  for (const [at, { height, text, count, isKnown }] of tables.entries()) {
    expect(text.split('\n')).toHaveLength((count ?? 0) + 2);
    expect(outbox[at]).toMatchObject({ height, count });
    const row = hashes.get(height);
    expect(row === undefined).toBe(!isKnown || height < networks[network].firstInscriptionHeight);
    if (row === undefined) continue;
    known++;
    expect(row.sha256).toBe(sha256(text));
    previous = createHash('sha256').update(previous).update(row.sha256, 'hex').digest();
    expect(row.cumulative).toBe(previous.toString('hex'));
  }
  return { known, unknown: tables.length - known };
}

describe('the text of a block', () => {
  // the deepest chain takes half of the time
  for (const name of goldenChainNames)
    test(`is what another program makes of ord, from the ledger and from the tables: ${name}`, {
      tags: name === 'deep-1' ? ['proof'] : [],
    }, async () => {
      await index(database.pool, folderOf(name));
      const chain = new GoldenChain(name);
      const { known, unknown } = await compare(database.pool, 'regtest');
      expect({ known, unknown }).toEqual({ known: chain.chain.headers.length, unknown: 0 });
      const expected = referenceEvents(chain, chain.tips()[0]!);
      expect((await readOutbox(database.pool)).map(({ text }) => text)).toEqual(
        expected.map(({ text }) => text),
      );
      expect([...(await readHashes(database.pool))]).toEqual(
        expected.map(({ height, sha256: ofText, cumulative }) => [height, { sha256: ofText, cumulative }]),
      );
    });

  test('says of blocks with gaps before them what is known', async () => {
    await index(database.pool, join(samples, 'mainnet'));
    const { known, unknown } = await compare(database.pool, 'mainnet');
    // the only block with a complete history lacks its spent outputs
    expect({ known, unknown }).toEqual({ known: 0, unknown: (await readOutbox(database.pool)).length });
    const texts = (await readOutbox(database.pool)).map(({ text }) => text ?? '').join('');
    expect(texts).toMatch(/^created [0-9a-f]{64}i0 \? \? \? /mu);
  });
});

describe('a database of a version without events', () => {
  test.each(['mixed-1', 'transfers-1'])('gets the very rows that it would have: %s', async (name) => {
    await index(database.pool, folderOf(name));
    const hashes = await readHashes(database.pool);
    const ofRunes = await readHashes(database.pool, storedRuneKind);
    const ofSales = await readHashes(database.pool, storedSaleKind);
    const outbox = await readOutbox(database.pool);
    await database.pool.query('TRUNCATE chain.outbox, chain.outbox_texts, chain.event_hashes');
    const client = await database.pool.connect();
    const seen: number[] = [];
    const added = await completeEventHashes(client, {
      network: networks.regtest,
      kinds: eventKinds,
      onProgress: (height) => seen.push(height),
    });
    expect(added).toBe(hashes.size + ofRunes.size + ofSales.size);
    expect(ofRunes.size).toBe(hashes.size);
    expect(ofSales.size).toBe(hashes.size);
    expect(seen.at(-1)).toBe(hashes.size - 1);
    expect(await completeEventHashes(client, { network: networks.regtest, kinds: eventKinds })).toBe(0);
    client.release();
    expect(await readHashes(database.pool)).toEqual(hashes);
    expect(await readHashes(database.pool, storedRuneKind)).toEqual(ofRunes);
    expect(await readHashes(database.pool, storedSaleKind)).toEqual(ofSales);
    expect(await readOutbox(database.pool)).toEqual(outbox.map((row) => ({ ...row, text: null })));
  });
});
