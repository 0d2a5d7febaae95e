import { copyFileSync, mkdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { DerivedTable } from '#indexer/derived/derived-table.ts';
import { asHeight } from '#kernel/primitives/height.ts';
import { BlockBuilder, mineHeader, regtestGenesis } from '#test/builders/block.ts';
import { BlockFolder } from '#test/builders/block-folder.ts';
import { dumpChain, holdWriterLock, pinFingerprintKey } from '#test/support/chain/chain-dump.ts';
import { GoldenChain } from '#test/support/chain/golden/golden-chain.ts';
import { indexFolder, indexTests } from '#test/support/chain/index-tests.ts';
import { createFilledDatabase, type FilledDatabase, type TestDatabase } from '#test/support/database.ts';

const samples = join(import.meta.dirname, '../../../../samples');
const { freshDatabase, removeLater, folderOf, newFolder } = indexTests();

const codeOf = async (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'no error',
    (error: unknown) => (error as { code: string }).code,
  );

describe('a refused block or folder', () => {
  const golden = new GoldenChain('mixed-1');
  const { headers } = golden.chain;
  const fileName = ({ height, hash }: { height: number; hash: string }): string =>
    `${String(height).padStart(7, '0')}-${hash}.bin`;
  const bad = headers[150]!;
  let goodDir: string;
  let indexedTo140: FilledDatabase;
  let cleanAt149: Record<string, string[]>;
  let refused: TestDatabase;

  beforeAll(async () => {
    goodDir = folderOf(golden);
    indexedTo140 = await createFilledDatabase(async ({ pool }) => {
      await pinFingerprintKey(pool, 'regtest');
      await indexFolder(pool, goodDir, { until: asHeight(140) });
    });
    const clean = await indexedTo140.clone();
    await indexFolder(clean.pool, goodDir, { until: asHeight(149) });
    cleanAt149 = await dumpChain(clean.pool);
    await clean.drop();
  });
  afterAll(() => indexedTo140?.drop());

  /** Indexes a folder with a changed block 150. Earlier blocks must stay, and no row of block 150 may be written. */
  async function refusedAt150(change: (block: string, spent: string) => void): Promise<unknown> {
    const clone = removeLater(await indexedTo140.clone());
    const { pool } = clone;
    const dir = folderOf(golden);
    change(join(dir, 'blocks', fileName(bad)), join(dir, 'spent', fileName(bad)));
    const failure = await indexFolder(pool, dir, { bounds: { blocksMax: 4 } }).then(
      () => null,
      (error: unknown) => error,
    );
    const { rows } = await pool.query<{ tip_height: number; top: number }>(
      'SELECT tip_height, (SELECT max(height) FROM chain.blocks) AS top FROM chain.state',
    );
    expect(rows).toEqual([{ tip_height: 149, top: 149 }]);
    expect(await dumpChain(pool)).toEqual(cleanAt149);
    refused = clone;
    return failure;
  }

  test('a truncated block', async () => {
    expect(await refusedAt150((block) => truncateSync(block, 200))).toMatchObject({
      code: 'block_truncated',
      details: { height: 150, hash: bad.hash },
    });
    // if the file is correct, the next run continues
    expect((await indexFolder(refused.pool, goodDir)).hash).toBe(golden.chain.tip);
  });

  test('a block that is larger than any valid one', async () => {
    expect(await refusedAt150((block) => truncateSync(block, 4_000_001))).toMatchObject({
      code: 'block_oversized',
      details: { height: 150, hash: bad.hash },
    });
  });

  test('a block with bytes after it', async () => {
    expect(
      await refusedAt150((block) =>
        writeFileSync(block, Buffer.concat([readFileSync(block), Buffer.alloc(1)])),
      ),
    ).toMatchObject({ code: 'block_oversized', details: { height: 150, hash: bad.hash } });
  });

  test('a block with a changed witness', async () => {
    expect(
      await refusedAt150((block) => {
        const bytes = readFileSync(block);
        bytes[bytes.length - 8]! ^= 1;
        writeFileSync(block, bytes);
      }),
    ).toMatchObject({ code: 'block_corrupt', details: { height: 150, hash: bad.hash } });
  });

  test('another block under its name', async () => {
    expect(
      await refusedAt150((block) =>
        copyFileSync(block.replace(fileName(bad), fileName(headers[149]!)), block),
      ),
    ).toMatchObject({ code: 'block_corrupt', details: { height: 150, hash: bad.hash } });
  });

  test('a missing block', async () => {
    expect(await refusedAt150((block) => rmSync(block))).toMatchObject({
      code: 'block_unavailable',
      details: { height: 150, hash: bad.hash },
    });
  });

  test('spent outputs that end too early', async () => {
    expect(await refusedAt150((_, spent) => truncateSync(spent, 30))).toMatchObject({
      code: expect.stringMatching(/^(block_truncated|spent_outputs_mismatch)$/u) as string,
      details: { height: 150, hash: bad.hash },
    });
  });

  test('spent outputs of another block', async () => {
    expect(
      await refusedAt150((_, spent) =>
        copyFileSync(spent.replace(fileName(bad), fileName(headers[110]!)), spent),
      ),
    ).toMatchObject({ code: 'spent_outputs_mismatch', details: { height: 150 } });
  });

  test('a valid block that names another parent', async () => {
    const { pool } = await freshDatabase();
    const dir = folderOf(golden);
    await indexFolder(pool, dir, { until: asHeight(149) });
    const bytes = readFileSync(join(dir, 'blocks', fileName(bad)));
    const { header, hash } = mineHeader(new Uint8Array(32), bytes.subarray(36, 68), bytes.readUInt32LE(68));
    bytes.set(header);
    const stray = { height: 150, hash: Buffer.from(hash).reverse().toString('hex') };
    writeFileSync(join(dir, 'blocks', fileName(stray)), bytes);
    copyFileSync(join(dir, 'spent', fileName(bad)), join(dir, 'spent', fileName(stray)));
    writeFileSync(
      join(dir, 'chain.json'),
      JSON.stringify({ network: 'regtest', headers: [...headers.slice(0, 150), stray] }),
    );
    const before = await dumpChain(pool);
    await expect(indexFolder(pool, dir)).rejects.toMatchObject({
      code: 'block_not_linked',
      details: { height: 150, hash: stray.hash },
    });
    expect(await dumpChain(pool)).toEqual(before);
  });

  test('a block with more money than can exist', async () => {
    const { pool } = await freshDatabase();
    const dir = newFolder();
    const folder = new BlockFolder(dir);
    const script = new Uint8Array(0);
    folder.add(0, regtestGenesis, null);
    const outputs = [{ value: 2_100_000_000_000_001, script }];
    folder.add(1, new BlockBuilder().finish(1, regtestGenesis.hash, 1_700_000_000, outputs), null);
    folder.finish(false, {});
    await expect(indexFolder(pool, dir)).rejects.toMatchObject({
      code: 'block_corrupt',
      details: { height: 1 },
    });
    const { rows } = await pool.query('SELECT height FROM chain.blocks');
    expect(rows).toEqual([{ height: 0 }]);
  });

  test('a block at which our own code fails halfway: none of its rows are written', async () => {
    const { pool } = await freshDatabase();
    const failing: DerivedTable = {
      name: 'test_failing',
      facts: [],
      targets: [],
      indexes: {},
      firstHeight: () => 0,
      isWanted: () => true,
      begin: () => ({
        add: ({ block }) => {
          if (block.ref.height === 150) throw new RangeError('a broken invariant');
        },
      }),
      undo: () => Promise.resolve(),
    };
    const run = indexFolder(pool, goodDir, { bounds: { blocksMax: 4 }, derivedTables: [failing] });
    await expect(run).rejects.toThrow('a broken invariant');
    const { rows } = await pool.query<{ tip: number; top: number; outbox: number }>(
      `SELECT tip_height AS tip, (SELECT max(height) FROM chain.blocks) AS top,
         (SELECT max(height) FROM chain.outbox) AS outbox FROM chain.state`,
    );
    // the blocks of the same batch before it are not written either
    expect(rows).toEqual([{ tip: 147, top: 147, outbox: 147 }]);
  });

  test('a folder of another network than the database', async () => {
    const { pool } = await freshDatabase();
    const dir = folderOf(new GoldenChain('sats-1'));
    await indexFolder(pool, dir);
    const before = await dumpChain(pool);
    expect(await codeOf(indexFolder(pool, join(samples, 'mainnet')))).toBe('network_mismatch');
    expect(await dumpChain(pool)).toEqual(before);
  });

  test('a second writer beside the first', async () => {
    const { pool } = await freshDatabase();
    const dir = folderOf(new GoldenChain('sats-1'));
    const giveBack = await holdWriterLock(pool);
    expect(await codeOf(indexFolder(pool, dir))).toBe('database_busy');
    giveBack();
    expect(await codeOf(indexFolder(pool, dir))).toBe('no error');
  });

  test('a tip that another process moved meanwhile', async () => {
    const { pool } = await freshDatabase();
    const dir = folderOf(golden);
    await indexFolder(pool, dir, { until: asHeight(100) });
    let moved = false;
    const run = indexFolder(pool, dir, {
      bounds: { blocksMax: 10 },
      onProgress: ({ blocks }) => {
        if (blocks < 20 || moved) return;
        moved = true;
        void pool.query('UPDATE chain.state SET tip_height = 5');
      },
    });
    expect(await codeOf(run)).toBe('tip_changed');
  });

  test('a database that was made by other rules', async () => {
    const { pool } = await freshDatabase();
    await pool.query('UPDATE chain.state SET text_rules = 0');
    expect(await codeOf(indexFolder(pool, folderOf(new GoldenChain('sats-1'))))).toBe('rules_changed');
  });

  test('a folder without blocks, which takes nothing back', async () => {
    const { pool } = await freshDatabase();
    const dir = folderOf(new GoldenChain('sats-1'));
    await indexFolder(pool, dir);
    rmSync(join(dir, 'blocks'), { recursive: true });
    mkdirSync(join(dir, 'blocks'));
    writeFileSync(join(dir, 'chain.json'), JSON.stringify({ network: 'regtest' }));
    expect(await codeOf(indexFolder(pool, dir))).toBe('folder_invalid');
  });
});
