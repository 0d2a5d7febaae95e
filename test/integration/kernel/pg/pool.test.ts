import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { takeAdvisoryLock } from '#kernel/pg/advisory-lock.ts';
import { checkServer } from '#kernel/pg/check-server.ts';
import { connectClient, createPool } from '#kernel/pg/pool.ts';
import { withTransaction } from '#kernel/pg/transaction.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
  await database.pool.query('CREATE TABLE numbers (n bigint)');
});
afterAll(() => database.drop());

async function select(expression: string): Promise<unknown> {
  const { rows } = await database.pool.query<{ value: unknown }>(`SELECT ${expression} AS value`);
  return rows[0]?.value;
}

describe('columns as values', () => {
  test('gives a bigint as an exact number, alone and in arrays', async () => {
    expect(await select("'2100000000000000'::bigint")).toBe(2_100_000_000_000_000);
    expect(await select("'-9007199254740991'::bigint")).toBe(-9_007_199_254_740_991);
    expect(await select("'{1,NULL,-3}'::bigint[]")).toEqual([1, null, -3]);
    expect(await select("'{}'::bigint[]")).toEqual([]);
  });

  test('fails a query with a bigint that a number cannot hold, and the connection stays usable', async () => {
    await expect(select("'9007199254740992'::bigint")).rejects.toThrow(/does not fit/u);
    expect(await select('1')).toBe(1);
  });

  test('gives bytea as a Buffer', async () => {
    expect(await select(String.raw`'\x00ff'::bytea`)).toEqual(Buffer.from([0, 255]));
  });
});

describe('createPool', () => {
  test('reports lost idle connections until it ends', async () => {
    const told: string[] = [];
    const pool = createPool(database.url, { onError: ({ message }) => told.push(message) });
    pool.emit('error', new Error('the server is gone'), new pg.Client());
    await pool.end();
    pool.emit('error', new Error('the server ended too'), new pg.Client());
    expect(told).toEqual(['the server is gone']);
  });
});

describe('withTransaction', () => {
  test('commits what it did', async () => {
    const value = await withTransaction(database.pool, async (tx) => {
      await tx.query('INSERT INTO numbers VALUES (1)');
      return 'done';
    });
    expect(value).toBe('done');
    expect(await select('(SELECT count(*) FROM numbers WHERE n = 1)')).toBe(1);
  });

  test('rolls back on an error, rethrows it and returns the connection', async () => {
    for (let round = 0; round < 15; round++) {
      await expect(
        withTransaction(database.pool, async (tx) => {
          await tx.query('INSERT INTO numbers VALUES (2)');
          throw new Error('mine');
        }),
      ).rejects.toThrow('mine');
    }
    expect(await select('(SELECT count(*) FROM numbers WHERE n = 2)')).toBe(0);
  });

  test('discards a lost connection', async () => {
    await expect(
      withTransaction(database.pool, (tx) => tx.query('SELECT pg_terminate_backend(pg_backend_pid())')),
    ).rejects.toThrow(/terminat/u);
    expect(await select('1')).toBe(1);
  });
});

describe('takeAdvisoryLock', () => {
  test('has one holder until its connection ends', async () => {
    const first = await connectClient(database.url);
    const second = await connectClient(database.url);
    try {
      await takeAdvisoryLock(first, 'writer');
      await expect(takeAdvisoryLock(second, 'writer')).rejects.toMatchObject({ code: 'database_busy' });
      await takeAdvisoryLock(second, 'sealer');
      await first.end();
      await expect
        .poll(() =>
          takeAdvisoryLock(second, 'writer').then(
            () => 'taken',
            () => 'busy',
          ),
        )
        .toBe('taken');
    } finally {
      await second.end();
    }
  });
});

describe('checkServer', () => {
  test('accepts a reachable server, and gives the reason for another one', async () => {
    await checkServer(database.url);
    const elsewhere = new URL(database.url);
    elsewhere.port = '1';
    await expect(checkServer(elsewhere.href)).rejects.toMatchObject({ code: 'postgres_unreachable' });
    const missing = new URL(database.url);
    missing.pathname = '/no_such_database';
    await expect(checkServer(missing.href)).rejects.toMatchObject({ code: 'postgres_refused' });
  });

  test('never shows a password', async () => {
    const elsewhere = new URL(database.url);
    elsewhere.password = 'hidden-word';
    elsewhere.port = '1';
    await expect(checkServer(elsewhere.href)).rejects.not.toThrow(/hidden-word/u);
  });
});
