import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { withTransaction } from '#kernel/pg/transaction.ts';
import { trustedTxid } from '#kernel/primitives/hash.ts';
import { supersedeOfOrders } from '#orders/order/order-transactions.store.ts';
import { askPartnerPayouts } from '#payouts/asking/ask-payouts.ts';
import { askRevenue, readRevenue } from '#payouts/asking/ask-revenue.ts';
import { type ListedPayout, listPayouts } from '#payouts/payout/payout.store.ts';
import { proveFree } from '#src/app/ordering/bump-parts.ts';
import { addressOf, scriptOf } from '#test/builders/regtest/regtest-transaction.ts';
import { bitcoindForTests } from '#test/support/node/find-bitcoind.ts';
import { OrderWorld } from '#test/support/orders/order-world.ts';
import { Partners } from '#test/support/orders/partners.ts';

const confirmations = 3;

describe.skipIf(bitcoindForTests() === null)('payouts that wait', () => {
  let world: OrderWorld;
  let partners: Partners;
  beforeAll(async () => {
    world = await OrderWorld.start();
    world.payoutConfirmations = confirmations;
    partners = new Partners(world, 700);
    await partners.fund(50_000);
    await partners.fund(40_000);
  });
  afterAll(() => world?.close());

  /** Registers a code that has earned 300 sats and the additional fee by a deep delivery. */
  async function owed(additional: number): Promise<string> {
    const partner = await partners.register();
    await partners.deliver(partner, additional, confirmations + 1);
    return partner.code;
  }

  async function blocks(count: number): Promise<void> {
    await world.chain.mineEmpty(count);
    await world.indexed();
  }

  const ask = async (code: string): Promise<string> =>
    (
      await askPartnerPayouts(world.database.pool, {
        partner: { account: 'referral', owner: code },
        confirmations,
        isDryRun: false,
      })
    ).ids[0]!;
  const payout = async (id: string): Promise<ListedPayout> =>
    (await listPayouts(world.database.pool, 1, [id]))[0]!;
  const until = (id: string, isSo: (found: ListedPayout) => boolean): Promise<ListedPayout> =>
    world.eventually(async () => {
      const found = await payout(id);
      if (isSo(found)) return found;
      throw new Error(`the payout is ${found.state}: ${found.stuck}\n${world.logged.join('')}`);
    });
  const mined = async (id: string): Promise<void> => {
    await world.eventually(async () => {
      await world.chain.mineMempool();
      return (await payout(id)).state === 'mined';
    });
  };

  /** Settles when the process with the seed has checked everything after the newest block. */
  async function looked(id: string): Promise<void> {
    await world.database.pool.query(`UPDATE service.payouts SET stuck = 'not looked at' WHERE id = $1`, [id]);
    await blocks(1);
    await until(id, ({ stuck }) => stuck !== 'not looked at');
  }

  test('use one key of the wallet, no matter how often they are planned', async () => {
    const { pool } = world.database;
    const code = await owed(700);
    await pool.query(`UPDATE service.wallet_coins SET aside = 'runic' WHERE held = 'free'`);
    const id = await ask(code);
    const why = /^No coin is free for/u;
    await until(id, ({ stuck }) => why.test(stuck ?? ''));
    const nextKey = async (): Promise<number> => {
      const { rows } = await pool.query<{ next_index: number }>(
        `SELECT next_index FROM service.wallet_branches WHERE name = 'own'`,
      );
      return rows[0]!.next_index;
    };
    const before = await nextKey();
    for (let look = 0; look < 3; look++) await looked(id);
    expect((await payout(id)).stuck).toMatch(why);
    expect(await nextKey()).toBe(before);
    await pool.query('UPDATE service.wallet_coins SET aside = NULL');
    await blocks(1);
    await mined(id);
  });

  test('of revenue never count a coin that a payout to a partner takes meanwhile', async () => {
    const { pool } = world.database;
    const code = await owed(9_000);
    // the wallet's coins allow less than the ledger does
    await pool.query(`UPDATE service.wallet_coins SET aside = 'runic' WHERE value = 40000`);
    const before = (await readRevenue(pool, { proveFree: proveFree(pool), confirmations })).takeable;
    await world.stop();
    const id = await ask(code);
    const sum = await readRevenue(pool, {
      confirmations,
      proveFree: async (coins) => {
        const proofs = await proveFree(pool)(coins);
        // the process with the seed signs while the coins are read
        await world.follow();
        await until(id, ({ state }) => state === 'sent');
        return proofs;
      },
    });
    expect(Number(sum.takeable)).toBeLessThanOrEqual(Number(before));
    await mined(id);
    await pool.query('UPDATE service.wallet_coins SET aside = NULL');
  });

  test('of revenue wait for the ledger if it has less for a while', async () => {
    const { pool } = world.database;
    await owed(0);
    const parts = { proveFree: proveFree(pool), confirmations };
    const { ids } = await askRevenue(pool, {
      ...parts,
      script: scriptOf(690),
      address: addressOf(690),
      sats: 5_000n,
    });
    const id = ids[0]!;
    await until(id, ({ state }) => state === 'sent');
    // a reorganisation also takes back revenue of an order in this way
    const book = (from: string, to: string): Promise<unknown> =>
      pool.query(
        `INSERT INTO service.ledger_entries (subject_kind, subject_id, from_account, to_account, asset, amount, txid)
         SELECT 'order', id, $1, $2, 0, 10000000, '\\x${'ab'.repeat(32)}' FROM service.orders ORDER BY created_at LIMIT 1`,
        [from, to],
      );
    await book('operator', 'fee');
    world.logged.length = 0;
    await world.chain.mineMempool();
    const why =
      'A block has the transaction of the payout, but the ledger does not yet have what the payout pays out.';
    await until(id, ({ state, stuck }) => state === 'sent' && stuck === why);
    expect(world.logged.filter((line) => line.includes('a payout failed'))).toEqual([]);
    await book('fee', 'operator');
    await blocks(1);
    await until(id, ({ state }) => state === 'mined');
  });

  test('are not planned with other coins while one that was given up may come back', async () => {
    const { pool } = world.database;
    const id = await ask(await owed(800));
    const { txid } = await until(id, ({ state }) => state === 'sent');
    const { rows } = await pool.query<{ txid: Buffer; plan: { inputs: { outpoint: string }[] } }>(
      'SELECT txid, plan FROM service.wallet_transactions WHERE payout_id = $1',
      [id],
    );
    // a block has a transaction of another plan that spends the payout's coin, so the payout's transaction is
    // superseded
    const spent = rows[0]!.plan.inputs.map(({ outpoint }) => outpoint);
    await pool.query(`UPDATE service.wallet_coins SET aside = 'runic' WHERE encode(txid, 'hex') = ANY($1)`, [
      spent.map((outpoint) => Buffer.from(outpoint.split(':')[0]!, 'hex').reverse().toString('hex')),
    ]);
    await withTransaction(pool, (tx) => supersedeOfOrders(tx, [trustedTxid(rows[0]!.txid)]));
    // a sent payout is checked after each block, or once a minute
    await blocks(1);
    await until(id, ({ state }) => state === 'asked');
    await looked(id);
    expect(await payout(id)).toMatchObject({
      state: 'asked',
      txid: null,
      stuck: expect.stringMatching(
        /^An output that the transaction of the payout spends is missing/u,
      ) as string,
    });
    // a block contains its transaction after all, so no other transaction pays the share
    await mined(id);
    expect((await payout(id)).txid).toBe(txid);
    await pool.query('UPDATE service.wallet_coins SET aside = NULL');
  });

  test('are replaced if fees rise: the same sats to the same partner, and only one of them is mined', async () => {
    await world.stop();
    world.bumps = { ...world.bumps, afterMs: 0 };
    await world.follow();
    await partners.fund(300_000);
    const code = await owed(2_000);
    const id = await ask(code);
    const first = await until(id, ({ state }) => state === 'sent');
    await world.raiseFees(20);
    const next = await until(id, ({ state, txid }) => state === 'sent' && txid !== first.txid);
    expect(next.fee).toBeGreaterThan(first.fee!);
    expect(next.shares).toEqual(first.shares);
    await mined(id);
    const paid = await payout(id);
    const { vout } = await world.bitcoind.rpc.call<{
      vout: { value: number; scriptPubKey: { address?: string } }[];
    }>('getrawtransaction', [paid.txid, true, await blockOf(paid.txid!)]);
    const [{ address } = { address: '' }] = paid.shares;
    const sent = vout.filter(({ scriptPubKey }) => scriptPubKey.address === address);
    expect(sent.map(({ value }) => Math.round(value * 1e8))).toEqual([2_300]);
    expect(await world.bitcoind.rpc.call('getrawmempool')).not.toContain(first.txid);
    expect((await world.audit()).payouts).toEqual([]);
  }, 180_000);

  /** Returns the hash of the block that contains a transaction of a payout. */
  const blockOf = async (txid: string): Promise<string> => {
    const { rows } = await world.database.pool.query<{ hash: Buffer }>(
      'SELECT hash FROM service.payments_seen WHERE txid = $1 AND height IS NOT NULL',
      [Buffer.from(txid, 'hex').reverse()],
    );
    return Buffer.from(rows[0]!.hash).reverse().toString('hex');
  };
});
