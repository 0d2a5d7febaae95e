import fc from 'fast-check';
import type pg from 'pg';
import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { withTransaction } from '#kernel/pg/transaction.ts';
import { trustedTxid } from '#kernel/primitives/hash.ts';
import { networks } from '#kernel/primitives/network.ts';
import type { OwnedOutput } from '#orders/bumping/plan-bump.ts';
import { CoinsFilling } from '#orders/coins/fill-coins.ts';
import { countUnlisted } from '#orders/coins/unlisted-orders.queries.ts';
import { readRecords } from '#orders/following/read-records.ts';
import { allFreeCoins, freeCoins, type IsUnspent, type ProveFree } from '#orders/funds/free-coins.ts';
import type { Order } from '#orders/order/order.store.ts';
import { settleBumpsOfOrders } from '#orders/order/order-transactions.store.ts';
import { addReturnCost } from '#orders/parents/return-costs.store.ts';
import { watcherOf } from '#orders/watching/watchers.ts';
import { outpointOf } from '#purse/transactions/outpoint.ts';
import { OutputTaken } from '#purse/transactions/spends.store.ts';
import { supersede } from '#purse/transactions/supersede.store.ts';
import { insertTransaction, type NewTransaction } from '#purse/transactions/wallet-transactions.store.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { expectSameFreeCoins } from '#test/support/orders/revenue-coins.ts';

/** Number of coins. It is larger than the number of coins that are read first. */
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
      `DELETE FROM service.wallet_coins; DELETE FROM service.watched_scripts; DELETE FROM service.return_costs; DELETE FROM service.bump_shares; DELETE FROM service.wallet_spends; DELETE FROM service.wallet_transactions; DELETE FROM service.orders;
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
  const orderScript = Buffer.alloc(34, 3);
  const newTxid = (): Buffer => {
    const txid = Buffer.alloc(32, 7);
    txid.writeUInt32BE(++made);
    return txid;
  };

  /** Adds an output in a block. */
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
      [orderScript],
    );
    return rows[0]!.id;
  }

  /** Adds a mined transaction that spends a coin, and whose output has a thousand sats less. */
  async function spend(orderId: string, kind: 'return' | 'refund', coin: Buffer, value: number) {
    const txid = newTxid();
    const outpoint = outpointOf({ txid: trustedTxid(coin), vout: 0 });
    const plan = {
      inputs: [{ outpoint, value, ...(kind === 'return' ? { isOperator: true as const } : {}) }],
      outputs: [{ kind: 'change' as const, value: value - 1000, script: changeScript.toString('hex') }],
    };
    await withTransaction(database.pool, async (tx) => {
      const made = { index: 0, files: 0, bytes: Buffer.alloc(0), fee: 1000n, replaces: null, ownIndex: null };
      await insertTransaction(tx, { txid: trustedTxid(txid), orderId, payoutId: null, kind, plan, ...made });
      if (kind === 'return') await addReturnCost(tx, { txid: trustedTxid(txid), sats: 1000n });
    });
    await mined(txid, value - 1000);
    return txid;
  }

  /** Lists the coins of stored orders, like after an upgrade from an earlier version. */
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

  test('are usable once the coins of all earlier orders are listed, which resumes after a killed process', async () => {
    await database.pool.query(
      `INSERT INTO service.orders (id, kind, state, key_index, own_index, script, address, paid_to, amount, quote, request,
                                   terms, expires_at)
       SELECT gen_random_uuid(), 'direct', 'completed', n, n, decode(lpad(to_hex(n), 68, '0'), 'hex'), '', 'direct', 1, '{}',
              '{"count": 1}', '{}', now()
         FROM generate_series(10, 259) AS n`,
    );
    await database.pool.query(
      `INSERT INTO service.wallet_transactions (txid, order_id, kind, index, files, bytes, plan, fee)
       SELECT decode(lpad(to_hex(own_index), 64, '0'), 'hex'), id, 'reveal', 0, 1, '',
              '{"inputs": [{"outpoint": "paid", "value": 1}], "outputs": [{"kind": "service", "value": 7000, "script": ""}]}', 1
         FROM service.orders`,
    );
    await database.pool.query(
      `INSERT INTO service.payments_seen (txid, vout, script, value, first_seen, height, hash)
       SELECT txid, 0, $1, 7000, now(), 100, $2 FROM service.wallet_transactions`,
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
      // list again from the first order on; this writes no row
      await list();
      expect(await rows()).toEqual(before);
    } finally {
      client.release();
    }
    await expectSameFreeCoins(database.pool);
  });

  test('are free again once the transaction that spends them is superseded', async () => {
    const coin = await fund(first);
    const spending = await spend(await completedOrder(), 'return', coin, first);
    expect(await values()).toEqual([first - 1000]);
    await database.pool.query('DELETE FROM service.payments_seen WHERE txid = $1', [spending]);
    await withTransaction(database.pool, (tx) => supersede(tx, [trustedTxid(spending)]));
    expect(await values()).toEqual([first]);
  });

  /** A transaction of this order that spends these coins. Each transaction has a different lock time. */
  function signed(
    orderId: string | null,
    coins: readonly Buffer[],
    more: Partial<NewTransaction> = {},
  ): NewTransaction {
    return {
      txid: trustedTxid(newTxid()),
      kind: orderId === null ? 'bump' : 'return',
      orderId,
      payoutId: null,
      index: 0,
      files: 0,
      bytes: Buffer.alloc(0),
      plan: {
        inputs: coins.map((coin) => ({
          outpoint: outpointOf({ txid: trustedTxid(coin), vout: 0 }),
          value: 1,
        })),
        outputs: [],
      },
      fee: 1n,
      replaces: null,
      ownIndex: orderId === null ? 3 : null,
      ...more,
    };
  }
  const keep = (made: NewTransaction) => withTransaction(database.pool, (tx) => insertTransaction(tx, made));
  const giveUp = (made: NewTransaction) => withTransaction(database.pool, (tx) => supersede(tx, [made.txid]));
  const settle = () => withTransaction(database.pool, settleBumpsOfOrders);
  /** Reads the txids of transactions that may be mined, and the coins of their families. */
  async function live(): Promise<{ readonly txids: string[]; readonly spent: string[] }> {
    const { rows } = await database.pool.query<{ id: string }>(
      `SELECT encode(txid, 'hex') AS id FROM service.wallet_transactions WHERE superseded_at IS NULL ORDER BY made_at, txid`,
    );
    const spends = await database.pool.query<{ id: string }>(
      `SELECT encode(txid, 'hex') AS id FROM service.wallet_spends WHERE ended_at IS NULL ORDER BY txid`,
    );
    return { txids: rows.map(({ id }) => id), spent: spends.rows.map(({ id }) => id) };
  }
  const hex = (txid: Uint8Array): string => Buffer.from(txid).toString('hex');
  const isLive = async (made: NewTransaction) => (await live()).txids.includes(hex(made.txid));

  test('are never in the plans of two processes that take and give up coins at random', async () => {
    const orderId = await completedOrder();
    const [one, other] = [await database.pool.connect(), await database.pool.connect()];
    try {
      const anySteps = fc.array(
        fc.record({
          coins: fc.uniqueArray(fc.integer({ min: 0, max: 4 }), { minLength: 1, maxLength: 3 }),
          isGivenUp: fc.boolean(),
        }),
        { maxLength: 12 },
      );
      await fc.assert(
        fc.asyncProperty(anySteps, anySteps, async (first, second) => {
          await database.pool.query(
            'DELETE FROM service.wallet_spends; DELETE FROM service.wallet_transactions',
          );
          const coins = Array.from({ length: 5 }, newTxid);
          const made = new Map<string, NewTransaction>();
          let refused = 0;
          const run = async (client: pg.ClientBase, steps: typeof first): Promise<void> => {
            for (const step of steps) {
              const plan = signed(
                orderId,
                step.coins.map((coin) => coins[coin]!),
              );
              try {
                await withTransaction(client, (tx) => insertTransaction(tx, plan));
                made.set(hex(plan.txid), plan);
                if (step.isGivenUp) await withTransaction(client, (tx) => supersede(tx, [plan.txid]));
              } catch (error) {
                if (!(error instanceof OutputTaken)) throw error;
                refused++;
              }
            }
          };
          await Promise.all([run(one, first), run(other, second)]);
          // a refused plan stores nothing
          const stored = await database.pool.query('SELECT FROM service.wallet_transactions');
          expect(stored.rowCount).toBe(made.size);
          expect(made.size + refused).toBe(first.length + second.length);
          const { txids, spent } = await live();
          const inPlans = txids.flatMap((txid) =>
            made.get(txid)!.plan.inputs.map(({ outpoint }) => outpoint),
          );
          expect(new Set(inPlans).size).toBe(inPlans.length);
          expect(spent).toHaveLength(inPlans.length);
        }),
        { numRuns: 20 },
      );
    } finally {
      one.release();
      other.release();
    }
  });

  test('of a bump are free once its parents are given up, and its own again if nothing has taken them', async () => {
    const orderId = await completedOrder();
    const [paid, coin] = [await fund(1), await fund(2)];
    const stuck = signed(orderId, [paid]);
    await keep(stuck);
    const bump = signed(null, [Buffer.from(stuck.txid), coin]);
    await keep(bump);
    await giveUp(stuck);
    expect(await live()).toEqual({ txids: [], spent: [] });
    // the stuck transaction, which pays the bump, is back
    await keep(stuck);
    await settle();
    expect(await isLive(bump)).toBe(true);
    await giveUp(stuck);
    const other = signed(orderId, [coin]);
    await keep(other);
    await keep(stuck);
    await settle();
    expect([await isLive(bump), await isLive(other)]).toEqual([false, true]);
    await giveUp(other);
    expect(await isLive(bump)).toBe(true);
    // a block decides which transaction is valid, even if it was given up
    await giveUp(stuck);
    await keep(other);
    await keep(stuck);
    await mined(Buffer.from(bump.txid), 1);
    expect(await settle()).toEqual([orderId]);
    expect([await isLive(bump), await isLive(other)]).toEqual([true, false]);
    // if this process is killed, the next process does the rest
    const due = await database.pool.query('SELECT FROM service.orders WHERE look_at <= now()');
    expect(due.rowCount).toBe(1);
  });

  test('are taken again by a bump in the same look that finds its parents in a block', async () => {
    const orderId = await completedOrder();
    const [paid, coin] = [newTxid(), await fund(2)];
    await database.pool.query(
      'INSERT INTO service.watched_scripts (watcher, script, since_height) SELECT $1, script, 0 FROM service.orders',
      [watcherOf(orderId)],
    );
    const stuck = signed(orderId, [paid], { kind: 'reveal' });
    await keep(stuck);
    const bump = signed(null, [Buffer.from(stuck.txid), coin]);
    await keep(bump);
    await database.pool.query('INSERT INTO service.bump_shares (bump, order_id, fee) VALUES ($1, $2, 1)', [
      Buffer.from(bump.txid),
      orderId,
    ]);
    const look = async () => {
      const terms = { parents: [], burn: false };
      const order = { id: orderId, amount: 1n, terms, request: { count: 1 } } as unknown as Order;
      const depths = {
        confirmationsFor: () => 1,
        finalConfirmations: 1,
        returnMaxSats: 0n,
        network: networks.regtest,
      };
      return withTransaction(database.pool, (tx) => readRecords(tx, order, depths, new Date()));
    };
    // the bump's payment is gone, so the bump ends in this round, too
    expect((await look()).bumps).toMatchObject([{ isDead: true }]);
    await mined(paid, 1, orderScript);
    await mined(Buffer.from(stuck.txid), 1);
    expect((await look()).bumps).toMatchObject([{ isDead: false }]);
    expect(await isLive(bump)).toBe(true);
  });

  test('of a replacement alone are free once another replacement is mined, until a reorganisation', async () => {
    const [coin, more] = [await fund(1), await fund(2)];
    const bump = signed(null, [coin]);
    await keep(bump);
    await expect(keep(signed(null, [more], { replaces: bump.txid }))).rejects.toThrow(
      /a replacement spends all/u,
    );
    const replacing = signed(null, [coin, more], { replaces: bump.txid });
    await keep(replacing);
    await mined(Buffer.from(bump.txid), 1);
    await settle();
    expect(await live()).toEqual({ txids: [hex(bump.txid)], spent: [hex(coin)] });
    await database.pool.query('UPDATE service.payments_seen SET height = NULL, hash = NULL WHERE txid = $1', [
      Buffer.from(bump.txid),
    ]);
    await settle();
    expect((await live()).spent).toEqual([hex(coin), hex(more)].toSorted());
    expect(await isLive(replacing)).toBe(true);
  });

  test('of a bump that was given up long ago stay free, until a block has it', async () => {
    const coin = await fund(1);
    const bump = signed(null, [coin]);
    await keep(bump);
    await giveUp(bump);
    await database.pool.query(
      `UPDATE service.wallet_transactions SET superseded_at = now() - interval '8 days'`,
    );
    await settle();
    expect(await isLive(bump)).toBe(false);
    await mined(Buffer.from(bump.txid), 1);
    await settle();
    expect(await live()).toEqual({ txids: [hex(bump.txid)], spent: [hex(coin)] });
  });
});
