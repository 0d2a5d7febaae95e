import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { copyBinary, encoderOf } from '#kernel/pg/copy-binary.ts';
import { connectPipelined } from '#kernel/pg/pool.ts';
import { pipelinedTransaction } from '#kernel/pg/transaction.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';

describe('a pipelined transaction', () => {
  let database: TestDatabase;
  let client: pg.Client;
  let table: string;

  beforeAll(async () => {
    database = await createTestDatabase();
  });
  afterAll(async () => {
    await database?.drop();
  });
  beforeEach(async () => {
    table = `public."${randomUUID()}"`;
    await database.pool.query(`CREATE TABLE ${table} (x integer CHECK (x >= 0))`);
    client = await connectPipelined(database.pool);
  });
  afterEach(async () => {
    await client.end();
  });

  const insert = (tx: pg.ClientBase, x: number): Promise<unknown> =>
    tx.query(`INSERT INTO ${table} SELECT $1::integer`, [x]);
  const copy = (tx: pg.ClientBase, ...rows: number[]): Promise<number> => {
    const target = { table, columns: 'x' };
    const encoder = encoderOf(target);
    for (const x of rows) {
      encoder.row();
      encoder.int4(x);
    }
    return copyBinary(tx, target, encoder);
  };
  const stored = async (): Promise<number[]> => {
    const { rows } = await database.pool.query<{ x: number }>(`SELECT x FROM ${table} ORDER BY x`);
    return rows.map(({ x }) => x);
  };

  test('commits statements and copies in their order, without waiting between them', async () => {
    let answered = 0;
    const count = <T>(statement: Promise<T>): Promise<T> =>
      statement.finally(() => {
        answered++;
      });
    await pipelinedTransaction(client, (tx) => {
      const decisive = [count(insert(tx, 1))];
      const rest = [
        count(copy(tx, 2, 3)),
        count(tx.query(`UPDATE ${table} SET x = x + 10`)),
        count(copy(tx, 4)),
      ];
      expect(answered).toBe(0);
      return { decisive, rest };
    });
    expect(answered).toBe(4);
    expect(await stored()).toEqual([4, 11, 12, 13]);
  });

  test.each([
    ['a copy', (tx: pg.ClientBase) => copy(tx, 5, -1, 6)],
    ['a statement', (tx: pg.ClientBase) => insert(tx, -1)],
  ])('leaves nothing when %s fails after the commit was sent, and throws that failure', async (_, fail) => {
    const run = pipelinedTransaction(client, (tx) => ({
      decisive: [insert(tx, 1)],
      rest: [fail(tx), copy(tx, 2), insert(tx, 3)],
    }));
    await expect(run).rejects.toMatchObject({ code: '23514' });
    expect(await stored()).toEqual([]);
    await pipelinedTransaction(client, (tx) => ({ decisive: [], rest: [insert(tx, 7)] }));
    expect(await stored()).toEqual([7]);
  });

  test('leaves nothing when a copy cannot be sent: the server would commit the others', async () => {
    const target = { table, columns: 'x' };
    const encoder = encoderOf(target);
    vi.spyOn(encoder, 'chunks').mockImplementation(() => {
      throw new RangeError('Array buffer allocation failed');
    });
    const run = pipelinedTransaction(client, (tx) => ({
      decisive: [insert(tx, 1)],
      rest: [copyBinary(tx, target, encoder), copy(tx, 2)],
    }));
    await expect(run).rejects.toThrow('allocation failed');
    expect(await stored()).toEqual([]);
    await pipelinedTransaction(client, (tx) => ({ decisive: [], rest: [insert(tx, 7)] }));
    expect(await stored()).toEqual([7]);
  });

  test('leaves nothing when an answer is not the expected one, although more statements follow', async () => {
    const refuse = async (tx: pg.ClientBase): Promise<void> => {
      await insert(tx, 1);
      throw new RangeError('refused');
    };
    const later = async (tx: pg.ClientBase): Promise<void> => {
      for (let x = 0; x < 5; x++) await insert(tx, x);
    };
    const run = pipelinedTransaction(client, (tx) => ({
      decisive: [refuse(tx), later(tx)],
      rest: [copy(tx, 2)],
    }));
    await expect(run).rejects.toThrow('refused');
    expect(await stored()).toEqual([]);
  });

  test('sends nothing when its beginning is refused: each statement would commit by itself', async () => {
    const run = pipelinedTransaction(
      client,
      (tx) => ({ decisive: [insert(tx, 1)], rest: [copy(tx, 2)] }),
      'SET no_such_setting = 1',
    );
    await expect(run).rejects.toMatchObject({ code: '42704' });
    expect(await stored()).toEqual([]);
  });

  test('throws when the connection is lost', async () => {
    const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    const run = pipelinedTransaction(client, (tx) => ({
      decisive: [insert(tx, 1), tx.query('SELECT pg_terminate_backend($1)', [rows[0]?.pid])],
      rest: [copy(tx, 2)],
    }));
    await expect(run).rejects.toMatchObject({ code: '57P01' });
    expect(await stored()).toEqual([]);
  });
});
