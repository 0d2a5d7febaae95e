import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { trustedTxid } from '#kernel/primitives/hash.ts';
import type { OwnedOutput } from '#orders/bumping/plan-bump.ts';
import { allFreeCoins, freeCoins, type IsUnspent, type ProveFree } from '#orders/funds/free-coins.ts';
import { outpointOf } from '#orders/order/outpoint.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';

/** More than are read first. */
const links = 201;
const first = 1_000_000;
const all: ProveFree = async (coins) => coins;

describe('free coins', () => {
  let database: TestDatabase;
  let made = 0;
  beforeAll(async () => {
    database = await createTestDatabase();
  });
  afterAll(() => database.drop());
  beforeEach(async () => {
    await database.pool.query(
      `DELETE FROM service.return_costs; DELETE FROM service.order_transactions; DELETE FROM service.orders;
       DELETE FROM service.fund_addresses; DELETE FROM service.payments_seen`,
    );
    await database.pool.query(
      `INSERT INTO service.fund_addresses (own_index, script, address) VALUES (900, $1, 'fund')`,
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
      inputs: [{ outpoint: outpointOf({ txid: trustedTxid(coin), vout: 0 }), value }],
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

  const values = async () => (await allFreeCoins(database.pool, all)).map(({ value }) => Number(value));

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
    ['hold something', async (coins) => coins.filter(({ value }) => value < first), async () => true],
  ] satisfies [string, ProveFree, IsUnspent][])(
    'are found after hundreds of larger ones that %s',
    async (_name, proveFree, isUnspent) => {
      for (let more = 0; more < links; more++) await fund(first + more);
      expect(await freeCoins(database.pool, proveFree, isUnspent)).toEqual([]);
      await fund(50_000);
      expect(await freeCoins(database.pool, proveFree, isUnspent)).toMatchObject([{ value: 50_000n }]);
    },
  );

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
