import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { exportInscriptions } from '#chain/inscriptions/export-inscriptions.ts';
import type { HeightRange } from '#chain/snapshot/inscription-keys.ts';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import { BlockWriter } from '#indexer/apply/block-writer.ts';
import { openChainSession, readPosition } from '#indexer/apply/chain-session.ts';
import { factsOf } from '#indexer/derived/derived-batch.ts';
import { eventKinds } from '#indexer/derived/event-kinds.ts';
import { follow } from '#indexer/follow/follow.ts';
import { blockReader } from '#indexer/source/block-reader.ts';
import { createBufferPool } from '#indexer/source/buffer-pool.ts';
import { openFolderSource } from '#indexer/source/folder-source.ts';
import { doubleSha256 } from '#indexer/transaction/double-sha256.ts';
import { createParsePool, type ParsedBlock } from '#indexer/workers/parse-pool.ts';
import { scriptToAddress } from '#kernel/bitcoin/address.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import { asHeight } from '#kernel/primitives/height.ts';
import { networks } from '#kernel/primitives/network.ts';
import { outlineBlock, strippedTransaction } from '#test/builders/outline.ts';
import { GoldenChain, type GoldenTip, goldenChainNames } from '#test/support/chain/golden/golden-chain.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { parseThreads } from '#test/support/parse-threads.ts';
import { sampleStep } from '#test/support/property-runs.ts';

let cleanUps: (() => Promise<void> | void)[] = [];

afterEach(async () => {
  for (const cleanUp of cleanUps.reverse()) await cleanUp();
  cleanUps = [];
});

function folderOf(chain: GoldenChain): string {
  const dir = mkdtempSync(join(tmpdir(), 'satscribe-golden-'));
  cleanUps.push(() => rmSync(dir, { recursive: true }));
  chain.writeFolder(dir);
  return dir;
}

async function testDatabase(): Promise<TestDatabase> {
  const database = await createTestDatabase();
  cleanUps.push(() => database.drop());
  return database;
}

async function index(database: TestDatabase, dir: string, tip: GoldenTip): Promise<void> {
  const source = await openFolderSource(dir, { tip: tip.tip });
  await follow({
    source,
    pool: database.pool,
    signal: new AbortController().signal,
    threads: parseThreads(),
  });
}

interface Line {
  id: string;
  number: number;
  sequence: number;
  height: number;
  txIndex: number;
  satpoint: string;
  contentType: string | null;
  contentLength: number | null;
  contentHash: string | null;
  charms: string[];
  parents: string[];
  claimedParents: string[];
  curse: string | null;
  delegate: string | null;
  metaprotocol: string | null;
  metadata: unknown;
  fee: number;
}

async function exported(pool: pg.Pool, range: HeightRange = {}): Promise<Line[]> {
  let text = '';
  await withSnapshot(
    pool,
    async ({ client }) => {
      for await (const lines of exportInscriptions(client, range)) text += lines;
    },
    null,
  );
  const lines = text.split('\n').slice(0, -1);
  return lines.map((line) => JSON.parse(line) as Line);
}

/** Positions of the chain's transactions in their blocks, by txid. */
function txIndexes(chain: GoldenChain, tip: GoldenTip): Map<string, number> {
  const places = new Map<string, number>();
  for (const header of tip.headers) {
    const { bytes } = chain.block(header);
    outlineBlock(bytes).forEach((outline, place) =>
      places.set(displayHash(doubleSha256(strippedTransaction(bytes, outline))), place),
    );
  }
  return places;
}

/** ord's responses, converted to the form of our export. */
function expected(chain: GoldenChain, tip: GoldenTip): Partial<Line>[] {
  const inscriptions = chain.inscriptions(tip);
  const places = txIndexes(chain, tip);
  return chain.order(tip).map((id, sequence) => {
    const ord = inscriptions.get(id)!;
    return {
      id,
      sequence,
      number: ord.number,
      height: ord.height,
      txIndex: places.get(id.slice(0, 64))!,
      satpoint: ord.satpoint,
      contentType: ord.content_type,
      contentLength: ord.content_length,
      charms: [...ord.charms],
      parents: [...ord.parents],
      metaprotocol: ord.metaprotocol,
      fee: ord.fee,
    };
  });
}

async function expectOrds(database: TestDatabase, chain: GoldenChain, tip: GoldenTip): Promise<Line[]> {
  const lines = await exported(database.pool);
  const ords = expected(chain, tip);
  expect(lines.map((line, at) => only(line, ords[at] ?? {}))).toEqual(ords);
  return lines;
}

/** The fields of a line that are compared. */
function only(line: Line, fields: Partial<Line>): Partial<Line> {
  return Object.fromEntries(Object.entries(line).filter(([name]) => name in fields));
}

/** Checks that other responses of ord say the same about the inscriptions. */
function expectOtherAnswers(lines: readonly Line[], chain: GoldenChain, tip: GoldenTip): void {
  const byId = new Map(lines.map((line) => [line.id, line]));
  const ofKey = (key: string): Line => byId.get(key)!;
  // ord has no response there for lost inscriptions
  const shown = chain.answers<{ delegate: string | null }>(tip, 'r-inscription').filter(({ value }) => value);
  expect(shown.map(({ key }) => [key, ofKey(key).delegate])).toEqual(
    shown.map(({ key, value }) => [key, value!.delegate]),
  );
  // 406 even if all encodings are accepted, because ord sends no body
  const contents = chain
    .answers<Content>(tip, 'r-undelegated-content')
    .filter(({ value }) => value?.status !== 406);
  expect(contents.map(({ key }) => [key, ofKey(key).contentHash])).toEqual(
    contents.map(({ key, value }) => [key, value?.status === 404 ? null : value!.sha256]),
  );
  const bare = chain.answers(tip, 'r-metadata').filter(({ status }) => status === 404);
  expect(bare.filter(({ key }) => ofKey(key).metadata !== null)).toEqual([]);
  for (const line of lines) expectConsistent(line);
}

interface Content {
  readonly status: number;
  readonly sha256?: string;
}

/** Asserts that the fields that ord does not show follow from the fields that it shows. */
function expectConsistent({ id, curse, charms, number, parents, claimedParents }: Line): void {
  const isMarked = charms.includes('cursed') || charms.includes('vindicated');
  expect([id, curse !== null, charms.includes('cursed')]).toEqual([id, isMarked, number < 0]);
  for (const parent of parents) expect(claimedParents).toContain(parent);
}

interface Owned {
  id: string;
  address: string | null;
  value: number | null;
}

/** Owner address and value of the output of every inscription, in the order of application. */
async function owners(pool: pg.Pool): Promise<Owned[]> {
  const { rows } = await pool.query<{
    txid: Buffer;
    index: number;
    script: Buffer | null;
    value: number | null;
  }>(
    `SELECT i.txid, i.index, l.script, l.value FROM chain.inscriptions i
     JOIN chain.locations l ON l.key = i.key AND l.spent_height IS NULL ORDER BY i.key`,
  );
  return rows.map(({ txid, index: at, script, value }) => ({
    id: `${displayHash(txid)}i${at}`,
    address: script === null ? null : scriptToAddress(script, networks.regtest),
    value,
  }));
}

/** All chain tables without instance-specific values: the fingerprint key, times of parsing, the undo epoch. */
async function tablesOf(pool: pg.Pool): Promise<Record<string, unknown>> {
  const tables = {
    blocks: "SELECT to_jsonb(t) - 'parsed_at' AS row FROM chain.blocks t ORDER BY height",
    contents: 'SELECT to_jsonb(t) AS row FROM chain.contents t ORDER BY content_id',
    metadata: 'SELECT to_jsonb(t) AS row FROM chain.metadata_texts t ORDER BY metadata_id',
    inscriptions: 'SELECT to_jsonb(t) AS row FROM chain.inscriptions t ORDER BY key',
    details: 'SELECT to_jsonb(t) AS row FROM chain.inscription_details t ORDER BY key',
    properties: 'SELECT to_jsonb(t) AS row FROM chain.properties t ORDER BY key',
    galleries: 'SELECT to_jsonb(t) AS row FROM chain.gallery_pages t ORDER BY key, page',
    parents: 'SELECT to_jsonb(t) AS row FROM chain.parents t ORDER BY child_key, position',
    locations:
      "SELECT to_jsonb(t) - 'outpoint_fingerprint' AS row FROM chain.locations t ORDER BY key, height, step",
    runeBlocks: 'SELECT to_jsonb(t) AS row FROM chain.rune_blocks t ORDER BY height',
    runes: 'SELECT to_jsonb(t) AS row FROM chain.runes t ORDER BY key',
    runeBalances:
      'SELECT to_jsonb(t) AS row FROM chain.rune_balances t ORDER BY height, tx_index, vout, rune_key',
    runeMints: 'SELECT to_jsonb(t) AS row FROM chain.rune_mints t ORDER BY height, rune_key',
    runeBurns: 'SELECT to_jsonb(t) AS row FROM chain.rune_burns t ORDER BY height, tx_index, rune_key',
    tip: "SELECT jsonb_build_object('height', tip_height, 'hash', tip_hash::text) AS row FROM chain.state",
  };
  const found: Record<string, unknown> = {};
  for (const [name, query] of Object.entries(tables)) {
    found[name] = (await pool.query<{ row: unknown }>(query)).rows.map(({ row }) => row);
  }
  return found;
}

/** Indexes in batches of `sizes` blocks, again and again, up to `until`. */
async function indexInBatches(
  database: TestDatabase,
  dir: string,
  sizes: readonly number[],
  until: number,
): Promise<void> {
  const source = await openFolderSource(dir);
  const session = await openChainSession(database.pool, source.network, {
    indexAddresses: false,
    indexRunes: true,
    indexSats: false,
    indexSales: true,
  });
  const parsePool = createParsePool(createBufferPool(), {
    threads: parseThreads(),
    facts: factsOf(session.followed.active.map(({ table }) => table)),
  });
  try {
    const position = await readPosition(session.writer);
    const facts = {
      network: networks[source.network],
      islands: await source.islands(),
      eventKinds,
      readBlock: blockReader(source),
    };
    const writer = await BlockWriter.open({ session, facts });
    const refs = await source.refs(asHeight((position.tip?.height ?? -1) + 1));
    const wanted = refs.filter(({ height }) => height <= until);
    const { signal } = new AbortController();
    let batch: ParsedBlock[] = [];
    let turn = 0;
    for await (const block of parsePool.blocks(source, wanted, session.fingerprintKey, signal)) {
      batch.push(block);
      if (batch.length < sizes[turn % sizes.length]!) continue;
      await writer.write(batch, turn++ % 2 === 0);
      batch = [];
    }
    if (batch.length > 0) await writer.write(batch, false);
    await writer.finish();
  } finally {
    await session.close();
    await parsePool.close();
  }
}

/**
 * One of three chains, and all chains in a long run. test/integration/indexer/index-chain.test.ts has the other cases.
 */
const inOtherBatches = goldenChainNames.filter((_, place) => place % sampleStep(3) === 0);

describe.each(goldenChainNames)('%s', (name) => {
  const chain = new GoldenChain(name);
  const best = chain.tips()[0]!;
  let database: TestDatabase;
  let dir: string;

  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), 'satscribe-golden-'));
    chain.writeFolder(dir);
    database = await createTestDatabase();
    await index(database, dir, best);
  });
  afterAll(async () => {
    await database.drop();
    rmSync(dir, { recursive: true });
  });

  test('is exported as ord has it, with the owners of all inscriptions', async () => {
    const lines = await expectOrds(database, chain, best);
    expectOtherAnswers(lines, chain, best);
    const ords = chain.inscriptions(best);
    const expectedOwners = chain.order(best).map((id) => {
      const { address, value } = ords.get(id)!;
      return { id, address, value };
    });
    expect(await owners(database.pool)).toEqual(expectedOwners);
  });

  if (!inOtherBatches.includes(name)) return;

  test('is the same in batches of other sizes, with a new start in between', {
    tags: ['proof'],
  }, async () => {
    const other = await testDatabase();
    const tipHeight = best.headers.at(-1)!.height;
    // the jubilee is at 110
    await indexInBatches(other, dir, [100, 1, 3, 1, 2, 7], 111);
    await indexInBatches(other, dir, [1, 11, 2, 500], tipHeight);
    await ensureIndexed(other, dir);
    expect(await tablesOf(other.pool)).toEqual(await tablesOf(database.pool));
  });
});

/** Runs the indexer, which must find nothing to apply. */
async function ensureIndexed(database: TestDatabase, dir: string): Promise<void> {
  const source = await openFolderSource(dir);
  const { pool } = database;
  const { signal } = new AbortController();
  const summary = await follow({ source, pool, signal, threads: parseThreads() });
  expect(summary.blocks).toBe(0);
}

describe('reorg-1', () => {
  const chain = new GoldenChain('reorg-1');
  const [best, ...stale] = chain.tips();
  let dir: string;
  let clean: Record<string, unknown>;

  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), 'satscribe-golden-'));
    chain.writeFolder(dir);
    const database = await createTestDatabase();
    await index(database, dir, best!);
    clean = await tablesOf(database.pool);
    await database.drop();
  });
  afterAll(() => rmSync(dir, { recursive: true }));

  test.each(stale)('from the tip $name to the best one nothing of the stale branch remains', async (tip) => {
    const database = await testDatabase();
    await index(database, dir, tip);
    expectOtherAnswers(await expectOrds(database, chain, tip), chain, tip);
    await index(database, dir, best!);
    await expectOrds(database, chain, best!);
    expect(await tablesOf(database.pool)).toEqual(clean);
  });

  test('goes from branch to branch and back', async () => {
    const database = await testDatabase();
    for (const tip of [stale[0]!, stale[1]!, best!, stale[1]!, stale[0]!]) {
      await index(database, dir, tip);
      await expectOrds(database, chain, tip);
    }
  });
});

describe('a range of heights', () => {
  test('exports its blocks alone', async () => {
    const chain = new GoldenChain('transfers-1');
    const best = chain.tips()[0]!;
    const database = await testDatabase();
    await index(database, folderOf(chain), best);
    const all = await exported(database.pool);
    const within = (from: number, to: number): Line[] =>
      all.filter(({ height }) => height >= from && height <= to);
    expect(await exported(database.pool, { from: asHeight(120), to: asHeight(130) })).toEqual(
      within(120, 130),
    );
    expect(await exported(database.pool, { from: asHeight(125), to: asHeight(125) })).toEqual(
      within(125, 125),
    );
    expect(await exported(database.pool, { to: asHeight(115) })).toEqual(within(0, 115));
    expect(await exported(database.pool, { from: asHeight(160) })).toEqual(within(160, 10_000));
    expect(await exported(database.pool, { from: asHeight(5000) })).toEqual([]);
    expect(await exported(database.pool, { from: asHeight(130), to: asHeight(120) })).toEqual([]);
  });
});

test('an empty database exports nothing', async () => {
  const database = await testDatabase();
  expect(await exported(database.pool)).toEqual([]);
});
