import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { loadWriterMemory } from '#indexer/apply/memory/writer-memory.ts';
import { type UndoneBlock, undoAbove } from '#indexer/apply/undo.ts';
import { follow } from '#indexer/follow/follow.ts';
import type { TrackedOutputs } from '#indexer/ledger/tracked-outputs.ts';
import { openFolderSource } from '#indexer/source/folder-source.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import { asHeight, genesisHeight } from '#kernel/primitives/height.ts';
import { dumpChain, pinFingerprintKey } from '#test/support/chain/chain-dump.ts';
import { readHashes, readOutbox } from '#test/support/chain/events/event-rows.ts';
import { GoldenChain } from '#test/support/chain/golden/golden-chain.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { parseThreads } from '#test/support/parse-threads.ts';

const golden = new GoldenChain('mixed-2');
const tip = golden.chain.headers.length - 1;
let root: string;
let database: TestDatabase;
let client: pg.PoolClient;

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'satscribe-undo-'));
  golden.writeFolder(root);
});
beforeEach(async () => {
  database = await createTestDatabase();
  await pinFingerprintKey(database.pool, 'regtest');
  await index();
  client = await database.pool.connect();
});
afterEach(async () => {
  client.release();
  await database.drop();
});
afterAll(() => rm(root, { recursive: true, force: true }));

async function index(pool = database.pool, until = tip): Promise<void> {
  const source = await openFolderSource(root);
  await follow({
    source,
    pool,
    signal: new AbortController().signal,
    threads: parseThreads(),
    until: asHeight(until),
  });
}

/** The fingerprints that a writer would load. There is one fingerprint for each location. */
async function fingerprints(): Promise<string[]> {
  const { rows } = await database.pool.query<{ fingerprint: string }>(
    `SELECT outpoint_fingerprint::text AS fingerprint FROM chain.locations
     WHERE spent_height IS NULL AND outpoint_fingerprint IS NOT NULL`,
  );
  return rows.map(({ fingerprint }) => fingerprint);
}

const halves = (text: string): [low: number, high: number] => {
  const bits = BigInt.asUintN(64, BigInt(text));
  return [Number(bits & 0xffff_ffffn), Number(bits >> 32n)];
};

/** Removes all expected entries. Extra entries remain, and a missing entry throws. */
function drain(tracked: TrackedOutputs, expected: readonly string[]): number {
  for (const text of expected) tracked.remove(...halves(text));
  return tracked.size;
}

describe('taking blocks back', () => {
  test('returns the changes that the memory of a running writer needs', async () => {
    for (const height of [170, 120, 104, 60]) {
      const { tracked } = await loadWriterMemory(client);
      const undone: UndoneBlock[] = [];
      const left = await undoAbove(client, asHeight(height), [], {
        onUndone: (block) => {
          tracked.apply(block.tracked);
          undone.push(block);
        },
      });
      expect(left?.height).toBe(height);
      expect(drain(tracked, await fingerprints())).toBe(0);
      expect(undone.at(-1)).toMatchObject({ ref: { height: height + 1 }, tip: { height } });
      const { rows } = await database.pool.query<{ free: unknown }>(
        `SELECT json_build_object('nextKey', next_key, 'nextContentId', next_content_id,
           'nextMetadataId', next_metadata_id) AS free FROM chain.blocks WHERE height = $1`,
        [height],
      );
      expect(undone.at(-1)?.free).toEqual(rows[0]?.free);
    }
  });

  test('adds an outbox row for each block, from the tip downwards, and keeps the hashes of the remaining blocks', async () => {
    const before = await readOutbox(database.pool);
    const hashes = await readHashes(database.pool);
    await undoAbove(client, asHeight(150), []);
    const added = (await readOutbox(database.pool)).slice(before.length);
    expect(added).toEqual(
      before
        .slice(151)
        .reverse()
        .map(({ sequence, height, hash }, at) => ({
          sequence: before.length + 1 + at,
          height,
          hash,
          cancels: sequence,
          count: 0,
          text: null,
        })),
    );
    expect(await readHashes(database.pool)).toEqual(new Map([...hashes].slice(0, 151)));
    await index();
    expect(await readHashes(database.pool)).toEqual(hashes);
    await undoAbove(client, asHeight(170), []);
    const all = await readOutbox(database.pool);
    expect(all.map(({ sequence }) => sequence)).toEqual(all.map((_, at) => at + 1));
    const cancelled = all.flatMap(({ cancels }) => (cancels === null ? [] : [cancels]));
    expect(new Set(cancelled).size).toBe(cancelled.length);
    // if a block was applied twice, the later row is cancelled
    expect(cancelled.slice(-(tip - 170)).every((sequence) => sequence > before.length + added.length)).toBe(
      true,
    );
  });

  test('runs the hooks in the transaction of each block, and stops where one fails, with whole blocks', async () => {
    const told: [number, string][] = [];
    await expect(
      undoAbove(client, asHeight(160), [
        async (tx, { nextKey }, { height, hash }) => {
          const { rows } = await tx.query('SELECT FROM chain.inscriptions WHERE key >= $1', [nextKey]);
          expect(rows).toEqual([]);
          told.push([height, displayHash(hash)]);
          if (height === 176) throw new Error('the hook fails');
        },
      ]),
    ).rejects.toThrow('the hook fails');
    expect(told).toEqual(
      golden.chain.headers
        .slice(176)
        .reverse()
        .map(({ height, hash }) => [height, hash]),
    );
    const clean = await createTestDatabase();
    await pinFingerprintKey(clean.pool, 'regtest');
    await index(clean.pool, 176);
    expect(await dumpChain(database.pool)).toEqual(await dumpChain(clean.pool));
    expect(await readHashes(database.pool)).toEqual(await readHashes(clean.pool));
    await clean.drop();
    const { rows } = await database.pool.query('SELECT tip_height, undo_epoch FROM chain.state');
    expect(rows).toEqual([{ tip_height: 176, undo_epoch: tip - 176 }]);
  });

  test('ends between two blocks for a signal', async () => {
    const controller = new AbortController();
    const heights: number[] = [];
    await expect(
      undoAbove(client, genesisHeight, [], {
        signal: controller.signal,
        onUndone: ({ ref }) => {
          heights.push(ref.height);
          if (heights.length === 3) controller.abort(new Error('enough'));
        },
      }),
    ).rejects.toThrow('enough');
    expect(heights).toEqual([tip, tip - 1, tip - 2]);
    const { rows } = await database.pool.query('SELECT tip_height FROM chain.state');
    expect(rows).toEqual([{ tip_height: tip - 3 }]);
  });

  test('gives each block of a version without an outbox its row first', async () => {
    const before = await readOutbox(database.pool);
    await database.pool.query('TRUNCATE chain.outbox');
    await undoAbove(client, asHeight(tip - 2), []);
    const rows = await readOutbox(database.pool);
    expect(rows.slice(0, before.length)).toEqual(before.map((row) => ({ ...row, text: null })));
    expect(rows.slice(before.length).map(({ cancels }) => cancels)).toEqual([
      before.length,
      before.length - 1,
    ]);
  });

  test('does nothing if the tip is not above, and refuses a tip that another process moved', async () => {
    const before = await readOutbox(database.pool);
    expect((await undoAbove(client, asHeight(tip), []))?.height).toBe(tip);
    await database.pool.query('UPDATE chain.state SET tip_height = tip_height + 1');
    await expect(undoAbove(client, asHeight(tip - 1), [])).rejects.toMatchObject({ code: 'tip_changed' });
    expect(await readOutbox(database.pool)).toEqual(before);
  });

  test('goes back to an empty index and forward again', async () => {
    const expected = await dumpChain(database.pool);
    expect(await undoAbove(client, -1, [])).toBeNull();
    const { 'chain.state': state, ...rows } = await dumpChain(database.pool);
    expect(Object.values(rows).flat()).toEqual([]);
    expect(state?.[0]).toContain('"tip_hash": null');
    expect(await readHashes(database.pool)).toEqual(new Map());
    await index();
    expect(await dumpChain(database.pool)).toEqual(expected);
  });
});
