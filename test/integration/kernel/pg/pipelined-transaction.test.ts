import { randomUUID } from 'node:crypto';
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';
import type pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { copyBinary, encoderOf } from '#kernel/pg/copy-binary.ts';
import { withCutConnection } from '#kernel/pg/cut-connection.ts';
import { connectPipelined, createPool } from '#kernel/pg/pool.ts';
import { PipelinedTransactions, together, withTransaction } from '#kernel/pg/transaction.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';

describe('a pipelined transaction', () => {
  let database: TestDatabase;
  let client: pg.Client;
  let transactions: PipelinedTransactions;
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
    transactions = new PipelinedTransactions(client);
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
    await transactions.run((tx) => {
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
    const run = transactions.run((tx) => ({
      decisive: [insert(tx, 1)],
      rest: [fail(tx), copy(tx, 2), insert(tx, 3)],
    }));
    await expect(run).rejects.toMatchObject({ code: '23514' });
    expect(await stored()).toEqual([]);
    await transactions.run((tx) => ({ decisive: [], rest: [insert(tx, 7)] }));
    expect(await stored()).toEqual([7]);
  });

  test('leaves nothing when a copy cannot be sent: the server would commit the others', async () => {
    const target = { table, columns: 'x' };
    const encoder = encoderOf(target);
    vi.spyOn(encoder, 'chunks').mockImplementation(() => {
      throw new RangeError('Array buffer allocation failed');
    });
    const run = transactions.run((tx) => ({
      decisive: [insert(tx, 1)],
      rest: [copyBinary(tx, target, encoder), copy(tx, 2)],
    }));
    await expect(run).rejects.toThrow('allocation failed');
    expect(await stored()).toEqual([]);
    await transactions.run((tx) => ({ decisive: [], rest: [insert(tx, 7)] }));
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
    const run = transactions.run((tx) => ({
      decisive: [refuse(tx), later(tx)],
      rest: [copy(tx, 2)],
    }));
    await expect(run).rejects.toThrow('refused');
    expect(await stored()).toEqual([]);
  });

  const soon = async (): Promise<void> => {
    await delay(5);
  };

  test('commits statements whose rows are ready later, after all others', async () => {
    await transactions.run((tx) => ({
      decisive: [insert(tx, 1)],
      rest: [copy(tx, 2)],
      later: soon().then(() => [tx.query(`UPDATE ${table} SET x = x + 10`), copy(tx, 3)]),
    }));
    expect(await stored()).toEqual([3, 11, 12]);
  });

  test('leaves nothing when a later statement fails, cannot be sent, or is never ready', async () => {
    const target = { table, columns: 'x' };
    const broken = encoderOf(target);
    vi.spyOn(broken, 'chunks').mockImplementation(() => {
      throw new RangeError('Array buffer allocation failed');
    });
    const run = (
      later: (tx: pg.ClientBase) => readonly Promise<unknown>[],
      decisive = insert,
      ready = soon(),
    ): Promise<void> =>
      transactions.run((tx) => ({
        decisive: [decisive(tx, 1)],
        rest: [copy(tx, 2)],
        later: ready.then(() => later(tx)),
      }));
    await expect(run((tx) => [copy(tx, -1)])).rejects.toMatchObject({ code: '23514' });
    await expect(run((tx) => [copyBinary(tx, target, broken), copy(tx, 3)])).rejects.toThrow(
      'allocation failed',
    );
    const neverReady = run(() => {
      throw new RangeError('not deflated');
    });
    await expect(neverReady).rejects.toThrow('not deflated');
    // a statement that is sent after the failure must not commit by itself
    const refusal = Promise.withResolvers<void>();
    const refused = run(
      (tx) => [copy(tx, 3)],
      async (tx) => {
        await insert(tx, 1);
        refusal.resolve();
        throw new RangeError('refused');
      },
      refusal.promise.then(() => nextTurn()),
    );
    await expect(refused).rejects.toThrow('refused');
    expect(await stored()).toEqual([]);
    await run((tx) => [copy(tx, 7)]);
    expect(await stored()).toEqual([1, 2, 7]);
  });

  /** Refuses each BEGIN from the given one on. */
  const refuseBegin = (from = 0): void => {
    const query = client.query.bind(client) as (...given: unknown[]) => Promise<unknown>;
    let begun = 0;
    vi.spyOn(client, 'query').mockImplementation(((...given: unknown[]) =>
      given[0] === 'BEGIN' && begun++ >= from ? query('SET no_such_setting = 1') : query(...given)) as never);
  };

  test('sends nothing when its beginning is refused: each statement would commit by itself', async () => {
    refuseBegin();
    const run = transactions.run((tx) => ({ decisive: [insert(tx, 1)], rest: [copy(tx, 2)] }));
    await expect(run).rejects.toMatchObject({ code: '42704' });
    expect(await stored()).toEqual([]);
  });

  const isInTransaction = async (): Promise<boolean> => {
    // two times of one transaction are equal
    const times = await Promise.all([1, 2].map(() => client.query<{ now: string }>('SELECT now()::text')));
    return times[0]?.rows[0]?.now === times[1]?.rows[0]?.now;
  };

  test('begins the next transaction with its commit if one follows', async () => {
    const queries = vi.spyOn(client, 'query');
    for (const x of [1, 2, 3]) {
      await transactions.run(
        (tx) => ({ decisive: [insert(tx, x)], rest: [] }),
        () => x < 3,
      );
      expect(queries.mock.lastCall?.[0]).toBe(x < 3 ? 'BEGIN' : 'COMMIT');
      expect(await stored()).toHaveLength(x);
    }
    const sent = queries.mock.calls
      .map(([text]) => text as unknown)
      .filter((text) => !/INSERT/u.test(String(text)));
    expect(sent).toEqual(['BEGIN', 'COMMIT', 'BEGIN', 'COMMIT', 'BEGIN', 'COMMIT']);
    expect(await isInTransaction()).toBe(false);
  });

  test('ends a transaction that was begun for nothing', async () => {
    await transactions.run(
      (tx) => ({ decisive: [insert(tx, 1)], rest: [] }),
      () => true,
    );
    expect(await isInTransaction()).toBe(true);
    await transactions.end();
    expect(await isInTransaction()).toBe(false);
    await transactions.end();
    expect(await stored()).toEqual([1]);
  });

  test('leaves nothing, and no transaction, when a followed one fails', async () => {
    const run = transactions.run(
      (tx) => ({ decisive: [insert(tx, 1)], rest: [copy(tx, -1)] }),
      () => true,
    );
    await expect(run).rejects.toMatchObject({ code: '23514' });
    expect(await isInTransaction()).toBe(false);
    await transactions.run(
      (tx) => ({ decisive: [insert(tx, 7)], rest: [] }),
      () => true,
    );
    const second = transactions.run(
      (tx) => ({ decisive: [insert(tx, 8)], rest: [copy(tx, -1)] }),
      () => true,
    );
    await expect(second).rejects.toMatchObject({ code: '23514' });
    expect(await isInTransaction()).toBe(false);
    expect(await stored()).toEqual([7]);
  });

  test('is committed even if the next one cannot begin', async () => {
    refuseBegin(1);
    await transactions.run(
      (tx) => ({ decisive: [insert(tx, 1)], rest: [] }),
      () => true,
    );
    const next = transactions.run(
      (tx) => ({ decisive: [insert(tx, 2)], rest: [] }),
      () => true,
    );
    await expect(next).rejects.toMatchObject({ code: '42704' });
    expect(await stored()).toEqual([1]);
  });

  test('throws when the connection is lost', async () => {
    const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    const run = transactions.run((tx) => ({
      decisive: [insert(tx, 1), tx.query('SELECT pg_terminate_backend($1)', [rows[0]?.pid])],
      rest: [copy(tx, 2)],
    }));
    await expect(run).rejects.toMatchObject({ code: '57P01' });
    expect(await stored()).toEqual([]);
  });
});

describe.each([
  ['pipelined', true],
  ['ordinary', false],
])('statements together on a %s connection', (_name, isPipelined) => {
  let database: TestDatabase;
  let pool: pg.Pool;

  beforeAll(async () => {
    database = await createTestDatabase();
    await database.pool.query('CREATE TABLE numbers (n integer PRIMARY KEY)');
    pool = createPool(database.url, { isPipelined, max: 1 });
  });
  afterAll(async () => {
    await pool?.end();
    await database?.drop();
  });
  beforeEach(() => database.pool.query('TRUNCATE numbers'));

  const add = async (tx: pg.ClientBase, n: number): Promise<number> => {
    await tx.query('INSERT INTO numbers VALUES ($1)', [n]);
    return n;
  };
  const numbers = async (): Promise<number[]> => {
    const { rows } = await database.pool.query<{ n: number }>('SELECT n FROM numbers ORDER BY n');
    return rows.map(({ n }) => n);
  };

  test('run in their order, with groups in groups, and give their answers', async () => {
    const got = await withTransaction(pool, (tx) =>
      together<[number, readonly [number, number], number]>(tx, [
        () => add(tx, 1),
        () =>
          together<[number, number]>(tx, [
            async () => (await tx.query<{ n: number }>('SELECT n FROM numbers')).rows[0]?.n ?? 0,
            () => add(tx, 2),
          ]),
        () => add(tx, 3),
      ]),
    );
    expect([got, await numbers()]).toEqual([
      [1, [1, 2], 3],
      [1, 2, 3],
    ]);
  });

  test('throw the first failure, which undoes all of them, and the connection stays usable', async () => {
    const refused = new Error('a check failed');
    const failing = withTransaction(pool, (tx) =>
      together<[number, unknown, number, number]>(tx, [
        () => add(tx, 1),
        async () => {
          await tx.query('SELECT 1');
          throw refused;
        },
        () => add(tx, 1),
        () => add(tx, 4),
      ]),
    );
    await expect(failing).rejects.toBe(refused);
    expect(await numbers()).toEqual([]);
    const twice = withTransaction(pool, (tx) =>
      together<[number, number, number]>(tx, [() => add(tx, 1), () => add(tx, 1), () => add(tx, 4)]),
    );
    await expect(twice).rejects.toMatchObject({ code: '23505' });
    expect(await numbers()).toEqual([]);
    await withTransaction(pool, (tx) => together<[number]>(tx, [() => add(tx, 5)]));
    expect(await numbers()).toEqual([5]);
  });

  test('can fail before they are sent, and the connection stays usable', async () => {
    const failing = withTransaction(pool, (tx) =>
      together<[number, number]>(tx, [
        () => add(tx, 1),
        () => {
          throw new RangeError('no such number');
        },
      ]),
    );
    await expect(failing).rejects.toThrow('no such number');
    expect(await numbers()).toEqual([]);
    await withTransaction(pool, (tx) => together<[number]>(tx, [() => add(tx, 6)]));
    expect(await numbers()).toEqual([6]);
  });

  test('that hang are cut if the client leaves, and the next statement gets another connection', async () => {
    const left = new AbortController();
    const reading = withCutConnection(pool, left.signal, async (client) => {
      const asleep = client.query('SELECT pg_sleep(600)');
      left.abort(new Error('the client left'));
      await asleep;
    });
    await expect(reading).rejects.toThrow(/terminated|closed|ended/u);
    expect((await pool.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
  });
});
