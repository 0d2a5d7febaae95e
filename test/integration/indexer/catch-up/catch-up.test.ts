import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inflateSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { missingIndexes } from '#indexer/apply/secondary-indexes.ts';
import { undoAbove } from '#indexer/apply/undo.ts';
import { catchUp } from '#indexer/catch-up/catch-up.ts';
import { follow } from '#indexer/follow/follow.ts';
import { WriterActivity } from '#indexer/follow/writer-activity.ts';
import { openFolderSource } from '#indexer/source/folder-source.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { asHeight } from '#kernel/primitives/height.ts';
import { networks } from '#kernel/primitives/network.ts';
import { CatchUpTests } from '#test/support/chain/derived/catch-up-tests.ts';
import { lastPaymentHash, statesOf } from '#test/support/chain/derived/derived-states.ts';
import { paymentQuestions, payments, paymentsFrom } from '#test/support/chain/derived/payments-table.ts';
import { stays, testDerivedTables } from '#test/support/chain/derived/test-derived-tables.ts';
import { readHashes, textsOfTables } from '#test/support/chain/events/event-rows.ts';
import { SimulatedNode } from '#test/support/node/simulated-node.ts';
import { parseThreads } from '#test/support/parse-threads.ts';
import { waitUntil } from '#test/support/wait-until.ts';

const chains = new CatchUpTests();
const { best, stale } = chains;

describe('a derived table that is added to an index', () => {
  test('asks once a batch, also while the batch before it is being committed', async () => {
    const database = await chains.freshDatabase();
    await chains.index(database, { until: asHeight(paymentsFrom - 1) });
    const { pool } = database;
    const holder = await pool.connect();
    await holder.query('BEGIN; LOCK TABLE chain.test_payments IN EXCLUSIVE MODE');
    paymentQuestions.length = 0;
    const indexing = chains.index(database, { bounds: { blocksMax: 3 } });
    await waitUntil(() => paymentQuestions.length === 2);
    await holder.query('COMMIT');
    holder.release();
    await indexing;
    const [first, second] = paymentQuestions;
    expect(first).toEqual({ below: paymentsFrom, isCommitting: false });
    expect(second).toEqual({ below: paymentsFrom, isCommitting: true });
    expect(paymentQuestions).toHaveLength(Math.ceil((chains.golden.chain.headers.length - paymentsFrom) / 3));
    const spends = await pool.query(
      'SELECT FROM chain.test_coins WHERE spent_height - height BETWEEN 1 AND 5',
    );
    expect(spends.rowCount).toBeGreaterThan(0);
    await chains.expectClean(database);
  });

  test('moves properties from text to rows, each in one place at any moment', async () => {
    const database = await chains.indexedBefore();
    await chains.index(database);
    const places = async (): Promise<{ texts: number; rows: number; both: number }> => {
      const { rows } = await database.pool.query<{ texts: number; rows: number; both: number }>(
        `SELECT count(properties_json)::integer AS texts, count(p.key)::integer AS rows,
           (count(*) FILTER (WHERE properties_json IS NOT NULL AND p.key IS NOT NULL))::integer AS both
         FROM chain.inscription_details d FULL JOIN chain.properties p USING (key)`,
      );
      return rows[0]!;
    };
    const { texts } = await places();
    expect(texts).toBeGreaterThan(0);
    expect(await places()).toEqual({ texts, rows: 0, both: 0 });
    // make half of the rows, as if the process had ended then
    const stop = new AbortController();
    const { pool } = database;
    const { rows: middle } = await pool.query<{ height: number }>(
      `SELECT height FROM chain.inscriptions JOIN chain.inscription_details USING (key)
       WHERE properties_json IS NOT NULL ORDER BY key OFFSET ${Math.floor(texts / 2)} LIMIT 1`,
    );
    await chains.makeTables(database, best, {
      signal: stop.signal,
      onProgress: ({ tables, height }) => {
        if (tables.includes('properties') && height >= middle[0]!.height) stop.abort();
      },
    });
    const half = await places();
    expect(half.both).toBe(0);
    expect(half.rows).toBeGreaterThan(0);
    expect(half.rows + half.texts).toBe(texts);
    expect(await chains.verified(database)).toEqual([]);
    await chains.makeTables(database, best);
    expect(await places()).toEqual({ texts: 0, rows: texts, both: 0 });
    await chains.expectClean(database);
  }, 180_000);

  test('goes back with the chain, then resumes', async () => {
    const database = await chains.indexedBefore();
    await chains.index(database);
    await chains.makeTables(database, best);
    const client = await database.pool.connect();
    try {
      const heights = [chains.golden.chain.headers.length - 4, stale.forkHeight, paymentsFrom - 1, 60];
      for (const height of heights.toSorted((a, b) => b - a)) {
        await undoAbove(client, asHeight(height), [], { tables: testDerivedTables });
        await chains.expectClean(database, { until: asHeight(height) });
      }
    } finally {
      client.release();
    }
    await chains.index(database);
    await chains.expectClean(database);
  }, 180_000);

  test('builds no index during an undo of blocks that it lacks', async () => {
    const database = await chains.indexedBefore();
    await chains.index(database);
    const client = await database.pool.connect();
    await undoAbove(client, asHeight(chains.golden.chain.headers.length - 4), [], {
      tables: testDerivedTables,
    });
    const missing = await missingIndexes(client, testDerivedTables);
    client.release();
    expect(missing).toContain('test_stays_height');
    await chains.index(database);
    await chains.makeTables(database, best);
    await chains.expectClean(database);
  });

  test('is exact if the chain is reorganised below and above it meanwhile', {
    tags: ['proof'],
  }, async () => {
    const node = new SimulatedNode(chains.golden);
    // a node follows the shorter branch if it calls the other branch invalid
    const turnTo = (tip: string): void => {
      if (tip === best) node.invalid.delete(best);
      else node.invalid.add(best);
      node.setTip(tip);
    };
    turnTo(stale.tip);
    const database = await chains.indexedBefore({ at: stale.tip });
    const { pool } = database;
    const stop = new AbortController();
    const activity = new WriterActivity();
    const following = follow({
      source: node,
      pool,
      signal: stop.signal,
      threads: parseThreads(),
      derivedTables: testDerivedTables,
      activity,
      bounds: { pollMs: 20 },
    });
    const tipIs = async (hash: string): Promise<void> => {
      await waitUntil(async () => {
        const { rows } = await pool.query<{ hash: Buffer }>('SELECT tip_hash AS hash FROM chain.state');
        return Buffer.from(rows[0]!.hash).reverse().toString('hex') === hash;
      });
    };
    // the branch changes below the tip of the tables, above it, and below it again; each change is awaited within the
    // pass
    const turns = new Map([
      [20, best],
      [stale.forkHeight + 3, stale.tip],
    ]);
    let turning = Promise.resolve();
    let isOnStale = true;
    await catchUp(
      chains.passOptions(database, node, {
        writer: activity,
        bounds: { blocksMax: 1, lookMs: 10 },
        onProgress: ({ height }) => {
          const to = turns.get(height);
          if (to === undefined) return;
          turns.delete(height);
          isOnStale = to !== best;
          turnTo(to);
          turning = tipIs(to);
        },
      }),
    );
    await turning;
    expect(turns.size).toBe(0);
    const tip = isOnStale ? stale.tip : best;
    await tipIs(tip);
    await chains.expectClean(database, { at: tip });
    // from here on, the writer adds the rows of these blocks
    const last = isOnStale ? best : stale.tip;
    turnTo(last);
    await tipIs(last);
    await chains.expectClean(database, { at: last });
    stop.abort();
    await following;
    expect(await chains.verified(database, last)).toEqual([]);
  });

  test('stops when it is no longer wanted, and resumes later', {
    tags: ['proof'],
  }, async () => {
    const database = await chains.freshDatabase();
    const { pool } = database;
    const kind = payments.eventKind!;
    await chains.index(database, { until: asHeight(130) });
    expect(await kind.whyNotReadable(pool)).toBeNull();
    const without = testDerivedTables.map((table) =>
      table === stays || table === payments ? { ...table, isWanted: () => false } : table,
    );
    await chains.index(database, { until: asHeight(150), derivedTables: without });
    expect((await statesOf(database))['test_stays']).toMatchObject({ is_followed: false, tip_height: 130 });
    expect(await chains.verified(database)).toEqual([]);
    expect(await lastPaymentHash(database)).toBe(130);
    expect(await kind.whyNotReadable(pool)).toContain('has reached height 130 of 145');
    await chains.index(database);
    await chains.makeTables(database, best);
    expect(await kind.whyNotReadable(pool)).toBeNull();
    await chains.expectClean(database);
  });

  test('has texts whose hashes are stored, from the tables and from the writer', async () => {
    const database = await chains.indexedBefore({ until: asHeight(140) });
    await chains.index(database, { until: asHeight(140) });
    await chains.makeTables(database, best);
    await chains.index(database);
    const kind = payments.eventKind!;
    const hashes = await readHashes(database.pool, kind);
    const texts = (await textsOfTables(database.pool, 'regtest', kind)).filter(
      ({ height }) => height >= kind.firstHeight(networks.regtest),
    );
    expect([...hashes].map(([height, { sha256 }]) => [height, sha256])).toEqual(
      texts.map(({ height, sha256 }) => [height, sha256]),
    );
    const { rows } = await database.pool.query<{ height: number; events: Buffer }>(
      'SELECT height, events FROM chain.outbox_texts WHERE kind = $1 AND events IS NOT NULL ORDER BY height',
      [kind.number],
    );
    // the writer stores the texts of its blocks, but a pass stores no texts
    expect(rows[0]?.height).toBe(141);
    expect(rows.map(({ height, events }) => [height, inflateSync(events).toString('latin1')])).toEqual(
      texts.filter(({ height }) => height > 140).map(({ height, text }) => [height, text]),
    );
    expect(texts.some(({ count }) => (count ?? 0) > 2)).toBe(true);
  });

  test('with a missing or an extra row is found by verify', { tags: ['proof'] }, async () => {
    const database = await chains.freshDatabase();
    await chains.index(database);
    const { pool } = database;
    await pool.query('DELETE FROM chain.test_payments WHERE height = 125');
    await pool.query('UPDATE chain.test_payments SET spent_sats = spent_sats + 1 WHERE height = 126');
    await pool.query('DELETE FROM chain.event_hashes WHERE kind = 8 AND height = 128');
    await pool.query('INSERT INTO chain.test_stays VALUES (999999, 127, 0, NULL)');
    const { rows } = await pool.query<{ key: number }>(
      `UPDATE chain.test_stays SET spent_height = NULL WHERE (key, height, step) IN (
         SELECT key, height, step FROM chain.test_stays WHERE spent_height > height LIMIT 1) RETURNING key`,
    );
    expect(rows).toHaveLength(1);
    const found = (await chains.verified(database)) as { table: string; height: number }[];
    expect(found.map(({ table, height }) => `${table} ${height}`)).toEqual(
      expect.arrayContaining([
        'chain.test_payments 125',
        'chain.test_payments 126',
        'chain.test_stays 127',
        'chain.event_hashes 128',
      ]),
    );
    expect(found.filter(({ table }) => table === 'chain.test_stays').length).toBeGreaterThan(1);
  });
});

describe('a failure of the catch-up pass', () => {
  test('is shown if a node has pruned a block, which is requested again', async () => {
    const database = await chains.indexedBefore();
    await chains.index(database);
    const node = new SimulatedNode(chains.golden);
    let isPruned = true;
    node.onRead = ({ height }) => {
      if (isPruned && height === 40) throw new AppError('node_pruned', 'The node has pruned block 40.');
    };
    const told: (number | null)[] = [];
    await catchUp(
      chains.passOptions(database, node, {
        onProblem: (_, delayMs) => {
          told.push(delayMs);
          if (told.length === 2) isPruned = false;
        },
        onProgress: () => undefined,
      }),
    );
    expect(told).toEqual([30, 30]);
    await chains.expectClean(database);
  });

  test('ends the pass if a folder lacks a block, with the reason in the table', async () => {
    const database = await chains.indexedBefore();
    await chains.index(database);
    const other = await mkdtemp(join(tmpdir(), 'satscribe-catch-up-lacks-'));
    chains.golden.writeFolder(other);
    const source = await openFolderSource(other, { tip: best });
    const block = (await readdir(join(other, 'blocks'))).find((name) => name.startsWith('0000050-'));
    await rm(join(other, 'blocks', block!));
    await catchUp(chains.passOptions(database, source));
    expect((await statesOf(database))['test_stays']).toMatchObject({
      is_followed: false,
      tip_height: 49,
      problem_code: 'block_unavailable',
    });
    await rm(other, { recursive: true });
    // the next start resumes, and reports no problem
    await chains.makeTables(database, best);
    await chains.expectClean(database);
  });

  test('of the lock makes one of two processes wait', async () => {
    const database = await chains.indexedBefore();
    await chains.index(database);
    await Promise.all([chains.makeTables(database, best), chains.makeTables(database, best)]);
    await chains.expectClean(database);
  });
});
