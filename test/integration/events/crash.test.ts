import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type pg from 'pg';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { lastSequence, readOutboxPage } from '#chain/events/events.queries.ts';
import { storedInscriptionKind } from '#chain/events/inscription-texts.queries.ts';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '#embedded-postgres/embedded-postgres.ts';
import { migrate } from '#kernel/pg/migrate.ts';
import { connectClient, createPool } from '#kernel/pg/pool.ts';
import { readPosition } from '#search/sync/outbox.ts';
import { pinFingerprintKey } from '#test/support/chain/chain-dump.ts';
import { type DataDir, makeUsedDataDir } from '#test/support/data-dir.ts';
import { waitUntil } from '#test/support/wait-until.ts';

let folder: DataDir;
let server: EmbeddedPostgres;
let pool: pg.Pool;

beforeEach(async () => {
  folder = await makeUsedDataDir();
  server = await startEmbeddedPostgres({ dataDir: folder.path });
  await migrate(server.url);
  pool = createPool(server.url);
  await pinFingerprintKey(pool, 'regtest');
});
afterEach(async () => {
  await pool.end();
  await server.stop();
  await folder.remove();
});

/** Adds rows of blocks in the way in which a bulk load commits them. */
async function addRows(from: number, to: number): Promise<void> {
  await pool.query(
    `BEGIN; SET LOCAL synchronous_commit = off;
     INSERT INTO chain.outbox (sequence, height, block_hash, event_count)
       SELECT n, n, decode(md5(n::text) || md5(n::text), 'hex'), 0 FROM generate_series(${from}, ${to}) AS n; COMMIT`,
  );
}

/**
 * Stops the process that writes such commits to the disk a moment later. It stays stopped until the end of the server.
 */
async function stopWalWriter(): Promise<number> {
  const superuser = await connectClient(server.superuserUrl);
  const { rows } = await superuser.query<{ pid: number }>(
    "SELECT pid FROM pg_stat_activity WHERE backend_type = 'walwriter'",
  );
  await superuser.end();
  const pid = rows[0]!.pid;
  process.kill(pid, 'SIGSTOP');
  return pid;
}

async function killServer(walWriter: number): Promise<void> {
  const pidFile = await readFile(join(folder.path, 'postgres/data/postmaster.pid'), 'utf8');
  process.kill(Number(pidFile.split('\n')[0]), 'SIGKILL');
  process.kill(walWriter, 'SIGKILL');
  await pool.end();
  await waitUntil(async () => !(await server.isRunning()));
  await server.restart();
  pool = createPool(server.url);
}

async function rowsLeft(): Promise<number> {
  const { rows } = await pool.query<{ rows: number }>('SELECT count(*) AS rows FROM chain.outbox');
  return rows[0]!.rows;
}

async function isFlushed(): Promise<boolean> {
  const { rows } = await pool.query<{ flushed: boolean }>(
    'SELECT pg_current_wal_flush_lsn() >= pg_current_wal_insert_lsn() AS flushed',
  );
  return rows[0]!.flushed;
}

test('rows of a bulk load that were handed on are there after the server was killed, others are not', async () => {
  const walWriter = await stopWalWriter();
  await addRows(1, 5);
  expect(await isFlushed()).toBe(false);
  expect(await lastSequence(pool, null)).toBe(5);
  expect(await isFlushed()).toBe(true);
  await addRows(6, 8);
  expect(await isFlushed()).toBe(false);
  const client = await pool.connect();
  const nothing = { sequence: 0 } as Parameters<typeof readPosition>[1];
  expect(await readPosition(client, nothing)).toMatchObject({ lastSequence: 8 });
  client.release();
  expect(await isFlushed()).toBe(true);
  await addRows(9, 15);
  expect(await readOutboxPage(pool, storedInscriptionKind, 'regtest', 1, null)).toHaveLength(15);
  await addRows(16, 20);
  await killServer(walWriter);
  // no reader saw the lost rows; without a reader, the server does not flush by itself
  expect(await rowsLeft()).toBe(15);
});
