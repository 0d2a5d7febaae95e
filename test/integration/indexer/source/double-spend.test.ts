import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { follow } from '#indexer/follow/follow.ts';
import { openFolderSource } from '#indexer/source/folder-source.ts';
import { asHeight } from '#kernel/primitives/height.ts';
import { armSeam, disarmFailpoint } from '#kernel/process/failpoint.ts';
import { BlockBuilder, type RawBlock, regtestGenesis } from '#test/builders/block.ts';
import { BlockFolder, SpentWriter } from '#test/builders/block-folder.ts';
import { ByteWriter } from '#test/builders/byte-writer.ts';
import { type Output, type Transaction, writeRevealScript } from '#test/builders/transaction.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { parseThreads } from '#test/support/parse-threads.ts';

let root: string;
let made = 0;
const databases: TestDatabase[] = [];
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'satscribe-double-'));
});
afterEach(async () => {
  disarmFailpoint();
  for (const database of databases.splice(0)) await database.drop();
});
afterAll(() => rm(root, { recursive: true, force: true }));

const script = Buffer.concat([Buffer.from([0x51, 0x20]), Buffer.alloc(32, 5)]);
const spend = (
  txid: Uint8Array,
  value: number,
  witness: readonly Uint8Array[] = [Buffer.alloc(64)],
): Transaction => ({
  inputs: [{ txid, vout: 0, scriptSig: new Uint8Array(0), witness }],
  outputs: [{ value, script }],
});

function revealWitness(): Uint8Array[] {
  const out = new ByteWriter();
  writeRevealScript(out, Buffer.alloc(32, 1), Buffer.from('text/plain'), Buffer.from('twice'));
  return [Buffer.alloc(64), Uint8Array.from(out.view()), Buffer.alloc(33, 0xc0)];
}

/**
 * Makes a folder in which block 2 reveals an inscription, block 3 moves it, and the output of the reveal is spent once
 * more. The second spend is in block `second`, which may be block 3 itself.
 */
function doubleSpend(second: number): string {
  const dir = join(root, `folder-${made++}`);
  const folder = new BlockFolder(dir);
  folder.add(0, regtestGenesis, null);
  let previous: RawBlock = regtestGenesis;
  const subsidy: Output = { value: 5_000_000_000, script };
  const add = (height: number, builder: BlockBuilder, spent: readonly Output[][]): Uint8Array => {
    const block = builder.finish(height, previous.hash, 1_700_000_000 + height, [subsidy]);
    const writer = new SpentWriter();
    for (const outputs of spent) writer.add(outputs);
    folder.add(height, block, writer.finish());
    previous = block;
    return block.coinbase;
  };
  const coin = add(1, new BlockBuilder(), []);
  const reveal = new BlockBuilder();
  const revealId = reveal.add(spend(coin, 5_000_000_000, revealWitness()));
  add(2, reveal, [[subsidy]]);
  for (let height = 3; height <= 9; height++) {
    const builder = new BlockBuilder();
    const spent: Output[][] = [];
    if (height === 3) {
      builder.add(spend(revealId, 5_000_000_000));
      spent.push([subsidy]);
    }
    if (height === second) {
      builder.add(spend(revealId, 4_999_999_999));
      spent.push([subsidy]);
    }
    add(height, builder, spent);
  }
  folder.finish(false, {});
  return dir;
}

describe('an output with an inscription that a folder spends twice', () => {
  test.each([3, 4, 8])('is block_corrupt for any batch size: again in block %i', async (second) => {
    const dir = doubleSpend(second);
    for (const blocksMax of [1, 2, 1000]) {
      const database = await createTestDatabase();
      databases.push(database);
      const source = await openFolderSource(dir);
      const run = follow({
        source,
        pool: database.pool,
        signal: new AbortController().signal,
        threads: parseThreads(),
        bounds: { blocksMax },
      });
      await expect(run).rejects.toMatchObject({ code: 'block_corrupt', details: { height: second } });
      const { rows } = await database.pool.query<{ tip_height: number; moves: number }>(
        'SELECT tip_height, (SELECT count(*)::integer FROM chain.locations) AS moves FROM chain.state',
      );
      expect(rows).toEqual([{ tip_height: second - 1, moves: second === 3 ? 1 : 2 }]);
    }
  });

  test('is found while the block that spends it first is applied but not written', async () => {
    const dir = doubleSpend(4);
    const database = await createTestDatabase();
    databases.push(database);
    const { pool } = database;
    const { signal } = new AbortController();
    const source = await openFolderSource(dir);
    const seen: number[][] = [];
    armSeam('prepared', 4, ({ decided, committed }) => {
      seen.push([decided, committed]);
    });
    const run = follow({ source, pool, signal, threads: parseThreads(), bounds: { blocksMax: 1 } });
    await expect(run).rejects.toMatchObject({ code: 'block_corrupt', details: { height: 4 } });
    // the refused block ended the batch that it would have started
    expect(seen).toEqual([[5, 3]]);
    const { rows } = await pool.query<{ tip_height: number }>('SELECT tip_height FROM chain.state');
    expect(rows).toEqual([{ tip_height: 3 }]);
  });

  test('is found after a restart too', async () => {
    const dir = doubleSpend(8);
    const database = await createTestDatabase();
    databases.push(database);
    const { pool } = database;
    const { signal } = new AbortController();
    await follow({
      source: await openFolderSource(dir),
      pool,
      signal,
      threads: parseThreads(),
      until: asHeight(6),
    });
    const again = follow({ source: await openFolderSource(dir), pool, signal, threads: parseThreads() });
    await expect(again).rejects.toMatchObject({ code: 'block_corrupt', details: { height: 8 } });
  });
});
