import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { trustedTxid } from '#kernel/primitives/hash.ts';
import type { OwnedOutput } from '#orders/bumping/plan-bump.ts';
import { CoinsFilling } from '#orders/coins/fill-coins.ts';
import { countUnlisted } from '#orders/coins/unlisted-orders.queries.ts';
import { allFreeCoins, freeCoins, type IsUnspent, type ProveFree } from '#orders/funds/free-coins.ts';
import { outpointOf } from '#orders/order/outpoint.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { expectSameFreeCoins } from '#test/support/orders/revenue-coins.ts';

/** More than are read first. */
const links = 201;
const first = 1_000_000;
const silent = pino({ level: 'silent' });
const all: ProveFree = async (coins) => coins.map(() => 'free');

describe('free coins', () => {
  let database: TestDatabase;
  let made = 0;
  beforeAll(async () => {
    database = await createTestDatabase();
  });
  afterAll(() => database.drop());
  beforeEach(async () => {
    await database.pool.query(
      `DELETE FROM service.wallet_coins; DELETE FROM service.watched_scripts; DELETE FROM service.return_costs; DELETE FROM service.order_transactions; DELETE FROM service.orders;
       DELETE FROM service.fund_addresses; DELETE FROM service.payments_seen`,
    );
    await database.pool.query(
      `INSERT INTO service.fund_addresses (own_index, script, address) VALUES (900, $1, 'fund')`,
      [fundScript],
    );
    await database.pool.query(
      `INSERT INTO service.watched_scripts (watcher, script, since_height) VALUES ('funds', $1, 0)`,
      [fundScript],
    );
  });

  const fundScript = Buffer.alloc(34, 1);
  const changeScript = Buffer.alloc(34, 2);
  const newTxid = (): Buffer => {
    const txid = Buffer.alloc(32, 7);
    txid.writeUInt32BE(++made);
    return txid;
  };

  /** An output in a block. */
  async function mined(txid: Buffer, value: number, script = changeScript): Promise<void> {
    await database.pool.query(
      `INSERT INTO service.payments_seen (txid, vout, script, value, first_seen, height, hash)
       VALUES ($1, 0, $2, $3, now(), 100, $4)`,
      [txid, script, value, Buffer.alloc(32, 9)],
    );
  }

  async function fund(value: number): Promise<Buffer> {
    const txid = newTxid();
    await mined(txid, value, fundScript);
    return txid;
  }

  async function completedOrder(): Promise<string> {
    const { rows } = await database.pool.query<{ id: string }>(
      `INSERT INTO service.orders (id, kind, state, key_index, own_index, script, address, paid_to, amount, quote, request,
                                   terms, expires_at)
       VALUES (gen_random_uuid(), 'direct', 'completed', 1, 1, $1, '', 'direct', 1, '{}', '{}', '{}', now())
       RETURNING id`,
      [Buffer.alloc(34, 3)],
    );
    return rows[0]!.id;
  }

  /** A mined transaction that spends a coin, and leaves a thousand sats less. */
  async function spend(orderId: string, kind: 'return' | 'refund', coin: Buffer, value: number) {
    const txid = newTxid();
    const plan = {
      inputs: [
        {
          outpoint: outpointOf({ txid: trustedTxid(coin), vout: 0 }),
          value,
          ...(kind === 'return' ? { isOperator: true } : {}),
        },
      ],
      outputs: [{ kind: 'change', value: value - 1000, script: changeScript.toString('hex') }],
    };
    await database.pool.query(
      `INSERT INTO service.order_transactions (txid, order_id, kind, index, files, bytes, plan, fee)
       VALUES ($1, $2, $3, 0, 0, '', $4, 1000)`,
      [txid, orderId, kind, JSON.stringify(plan)],
    );
    if (kind === 'return')
      await database.pool.query(
        'INSERT INTO service.return_costs (txid, sats, coin_txid, coin_vout) VALUES ($1, 1000, $2, 0)',
        [txid, coin],
      );
    await mined(txid, value - 1000);
    return txid;
  }

  /** Lists the coins of what is stored, as of a database of an earlier version. */
  async function list(): Promise<void> {
    await database.pool.query(
      'UPDATE service.wallet_coins_fill SET after = NULL, orders = 0, ended_at = NULL',
    );
    const filling = new CoinsFilling(silent);
    const client = await database.pool.connect();
    try {
      while (!filling.isComplete) await filling.next(client);
    } finally {
      client.release();
    }
  }

  const values = async () => {
    await list();
    await expectSameFreeCoins(database.pool);
    return (await allFreeCoins(database.pool, all)).map(({ value }) => Number(value));
  };

  test.each([
    ['returns', 'return' as const],
    ['transactions of their order', 'refund' as const],
  ])('are found after hundreds of larger ones that %s have spent', async (_name, kind) => {
    await fund(50_000);
    const orderId = await completedOrder();
    let coin = await fund(first);
    if (kind === 'refund')
      await database.pool.query('DELETE FROM service.payments_seen WHERE txid = $1', [coin]);
    for (let link = 0; link < links; link++) coin = await spend(orderId, kind, coin, first - link * 1000);
    expect(await values()).toEqual([first - links * 1000, 50_000]);
  });

  test.each([
    ['another wallet has spent', all, async ({ value }: OwnedOutput) => value < first],
    [
      'hold something',
      async (coins) => coins.map(({ value }) => (value < first ? 'free' : 'inscribed')),
      async () => true,
    ],
  ] satisfies [string, ProveFree, IsUnspent][])(
    'are found after hundreds of larger ones that %s',
    async (_name, proveFree, isUnspent) => {
      for (let more = 0; more < links; more++) await fund(first + more);
      await list();
      expect(await freeCoins(database.pool, proveFree, isUnspent)).toEqual([]);
      await fund(50_000);
      await list();
      expect(await freeCoins(database.pool, proveFree, isUnspent)).toMatchObject([{ value: 50_000n }]);
    },
  );

  test('are given out once those of all earlier orders are listed, which a process resumes where another one was killed', async () => {
    await database.pool.query(
      `INSERT INTO service.orders (id, kind, state, key_index, own_index, script, address, paid_to, amount, quote, request,
                                   terms, expires_at)
       SELECT gen_random_uuid(), 'direct', 'completed', n, n, decode(lpad(to_hex(n), 68, '0'), 'hex'), '', 'direct', 1, '{}',
              '{"count": 1}', '{}', now()
         FROM generate_series(10, 259) AS n`,
    );
    await database.pool.query(
      `INSERT INTO service.order_transactions (txid, order_id, kind, index, files, bytes, plan, fee)
       SELECT decode(lpad(to_hex(own_index), 64, '0'), 'hex'), id, 'reveal', 0, 1, '',
              '{"inputs": [{"outpoint": "paid", "value": 1}], "outputs": [{"kind": "service", "value": 7000, "script": ""}]}', 1
         FROM service.orders`,
    );
    await database.pool.query(
      `INSERT INTO service.payments_seen (txid, vout, script, value, first_seen, height, hash)
       SELECT txid, 0, $1, 7000, now(), 100, $2 FROM service.order_transactions`,
      [changeScript, Buffer.alloc(32, 9)],
    );
    await database.pool.query(
      'UPDATE service.wallet_coins_fill SET after = NULL, orders = 0, ended_at = NULL',
    );
    const isThere: IsUnspent = async () => true;
    const rows = async () =>
      (await database.pool.query<object>('SELECT *, xmin::text FROM service.wallet_coins ORDER BY txid'))
        .rows;
    const client = await database.pool.connect();
    try {
      await new CoinsFilling(silent).next(client);
      expect(await countUnlisted(client)).toBe(50);
      expect(await rows()).toHaveLength(200);
      expect(await freeCoins(client, all, isThere)).toBeNull();
      const resumed = new CoinsFilling(silent);
      while (!resumed.isComplete) await resumed.next(client);
      expect(await countUnlisted(client)).toBe(0);
      expect(await freeCoins(client, all, isThere)).toHaveLength(200);
      const before = await rows();
      expect(before).toHaveLength(250);
      await new CoinsFilling(silent).next(client);
      // from the first order on: no row is written
      await list();
      expect(await rows()).toEqual(before);
    } finally {
      client.release();
    }
    await expectSameFreeCoins(database.pool);
  });

  test('are free again once what spends them is superseded', async () => {
    const coin = await fund(first);
    const spending = await spend(await completedOrder(), 'return', coin, first);
    expect(await values()).toEqual([first - 1000]);
    await database.pool.query('DELETE FROM service.payments_seen WHERE txid = $1', [spending]);
    await database.pool.query('UPDATE service.order_transactions SET superseded_at = now() WHERE txid = $1', [
      spending,
    ]);
    expect(await values()).toEqual([first]);
  });
});
