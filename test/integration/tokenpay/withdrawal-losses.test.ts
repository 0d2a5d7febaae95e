import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { StoredPayoutPlan } from '#payouts/payout/payout.ts';
import { outpointParts } from '#purse/transactions/outpoint.ts';
import { addressOf, type Coin, scriptOf, transaction } from '#test/builders/regtest/regtest-transaction.ts';
import { bitcoindForTests } from '#test/support/node/find-bitcoind.ts';
import { ShopWithdrawals, type ShownWithdrawal } from '#test/support/tokenpay/shop-withdrawals.ts';
import { ShopWorld } from '#test/support/tokenpay/shop-world.ts';
import { auditTokens } from '#tokenpay/audit/audit-tokens.ts';

/** How long nodes keep unconfirmed transactions (-mempoolexpiry), plus a day, in seconds. */
const expiredS = 15 * 24 * 60 * 60;
const notThere: unknown = expect.stringMatching(
  /^An output that the transaction of the payout spends is missing\. The payout is planned again 3 blocks after/u,
);
const txidOf = (shown: string): Buffer => Buffer.from(shown, 'hex').reverse();
/** How many sats below its real value the node counts the fee of a transaction. */
const feeDelta = 1_000_000;

// balances add up from test to test
describe.skipIf(bitcoindForTests() === null)('a withdrawal that is sent', { shuffle: false }, () => {
  let shop: ShopWorld;
  let its: ShopWithdrawals;
  beforeAll(async () => {
    shop = await ShopWorld.start();
    its = new ShopWithdrawals(shop, await shop.etch(1_000_000n, 0));
    await its.earn(1_000n, 60_000);
    // the change of this batch is coins without an owner
    await its.mined((await its.asked(its.units(100, addressOf(920)))).id);
  }, 180_000);
  afterAll(() => shop?.close());

  const mempool = () => shop.world.chain.rpc.call<string[]>('getrawmempool');
  /** Settles once the mempool has a transaction of the withdrawal other than `before`. */
  const sent = (id: string, before: string | null = null, whose = its): Promise<ShownWithdrawal> =>
    shop.world.eventually(async () => {
      const found = await whose.read(id);
      if (found.txid !== null && found.txid !== before && (await mempool()).includes(found.txid))
        return found;
      throw new Error(JSON.stringify(found));
    });
  const waits = (whose: ShopWithdrawals, id: string): Promise<ShownWithdrawal> =>
    shop.world.eventually(async () => {
      const found = await whose.read(id);
      return found.reason !== null && found;
    });

  /** Moves the node's clock, so that it drops everything that is in its mempool now. */
  async function evict(txid: string): Promise<void> {
    const { rpc } = shop.world.chain;
    const best = await rpc.call<string>('getbestblockhash');
    const { time } = await rpc.call<{ time: number }>('getblockheader', [best]);
    await rpc.call('setmocktime', [time + expiredS]);
    await shop.world.chain.pay(scriptOf(0), 10_000);
    await rpc.call('setmocktime', [0]);
    expect(await mempool()).not.toContain(txid);
  }

  test('and evicted is sent again, and says why if the node refuses it', async () => {
    const { world } = shop;
    const before = await its.held();
    const { id } = await its.asked(its.units(10, addressOf(921)));
    const { txid } = await sent(id);
    const reserved = await its.reserved();
    await world.stop();
    await evict(txid!);
    await world.follow();
    expect([(await sent(id)).txid, (await its.read(id)).tries]).toEqual([txid, 1]);

    await world.stop();
    await evict(txid!);
    await world.chain.rpc.call('prioritisetransaction', [txid, 0, -feeDelta]);
    await world.follow();
    const refused = await waits(its, id);
    expect([refused.state, refused.txid, refused.reason, await its.reserved()]).toEqual([
      'processing',
      txid,
      expect.stringMatching(/^The node refused the transaction of the payout: .*fee not met/u),
      reserved,
    ]);
    expect(await its.held()).toEqual(before);
    await its.audit();

    await world.chain.rpc.call('prioritisetransaction', [txid, 0, feeDelta]);
    await world.chain.mineEmpty(1);
    expect((await sent(id)).txid).toBe(txid);
    const done = await its.mined(id);
    expect([done.txid, done.reason, done.tries, await its.reserved()]).toEqual([txid, null, 1, 0n]);
    await world.indexed();
    expect([await its.unitsOf(scriptOf(921)), before.units - (await its.held()).units]).toEqual([10n, 10n]);
    await its.audit();
  });

  /** Makes a batch of two withdrawals. The account of the first one has only a payment of the last block. */
  async function batchOfBoth([bad, good]: readonly [number, number]) {
    const { chain } = shop.world;
    const hostile = await its.ofOther();
    const { feeScript } = await hostile.ordered(1n);
    const coin = await chain.coin();
    const payment = transaction(
      [coin],
      [{ value: 50_000, outputScript: feeScript }, { value: coin.value - 60_000 }],
    );
    await its.earn(20n, 20_000);
    await chain.broadcast(payment);
    await chain.mineMempool();
    await shop.world.eventually(async () => (await hostile.held()).sats === 41_000n);
    await shop.world.stop();
    const badId = (await hostile.asked(hostile.bitcoin(20_000, addressOf(bad)))).id;
    const goodId = (await its.asked(its.units(30, addressOf(good)))).id;
    await shop.world.follow();
    const first = await sent(goodId);
    expect((await hostile.read(badId)).txid).toBe(first.txid);
    return { hostile, badId, goodId, first: first.txid!, feeScript, coin, payment };
  }

  /** Removes the last block. The new branch has a transaction that double-spends the payment of that block. */
  async function doubleSpend({ coin, goodId }: { readonly coin: Coin; readonly goodId: string }) {
    const { chain } = shop.world;
    await shop.world.stop();
    await chain.takeBack(1);
    await chain.mine([transaction([coin], [{ value: coin.value - 1_000 }])]);
    await chain.mineEmpty(1);
    await shop.world.follow();
    return waits(its, goodId);
  }

  test('with one whose payment is double-spent stops no others', async () => {
    const { world } = shop;
    const { chain } = world;
    const before = await its.held();
    const batch = await batchOfBoth([922, 923]);
    const { hostile, badId, goodId, first, feeScript } = batch;
    const waiting = await doubleSpend(batch);
    expect([waiting.state, waiting.txid, waiting.reason]).toEqual(['processing', first, notThere]);
    expect([(await its.held()).units, (await hostile.held()).sats]).toEqual([before.units + 20n, 0n]);
    await chain.mineEmpty(world.payoutConfirmations);
    const next = await sent(goodId, first);
    expect([next.state, next.tries]).toEqual(['processing', 2]);
    await its.mined(goodId);
    const withheld = await waits(hostile, badId);
    expect([withheld.state, withheld.txid, withheld.reason]).toEqual([
      'pending',
      null,
      expect.stringContaining('the account owes sats or has less than its withdrawals need'),
    ]);
    await world.indexed();
    expect([await its.unitsOf(scriptOf(923)), await chain.unspentOf(922)]).toEqual([30n, 0]);
    expect((await its.held()).units).toBe(before.units - 10n);
    await its.audit();

    // once the account has enough again, the withdrawal is sent alone
    await chain.pay(feeScript, 50_000);
    await chain.mineMempool();
    const paid = await hostile.mined(badId);
    await world.indexed();
    expect(await chain.unspentOf(922)).toBe(Number(paid.price.receivedBase));
    await its.audit();
  });

  test('by a transaction that was given up and then mined after all is completed by it', {
    tags: ['proof'],
  }, async () => {
    const { world } = shop;
    const { chain } = world;
    const before = await its.held();
    const batch = await batchOfBoth([925, 926]);
    const { hostile, badId, goodId, first, payment } = batch;
    await doubleSpend(batch);
    await chain.mineEmpty(world.payoutConfirmations);
    await sent(goodId, first);
    await waits(hostile, badId);
    const { rows } = await world.database.pool.query<{ hex: string }>(
      `SELECT encode(bytes, 'hex') AS hex FROM service.wallet_transactions WHERE txid = $1`,
      [txidOf(first)],
    );
    await world.stop();
    await chain.takeBack(2 + world.payoutConfirmations);
    await chain.rpc.call('generateblock', [
      `raw(${Buffer.from(scriptOf(0)).toString('hex')})`,
      [payment.hex, rows[0]!.hex],
    ]);
    await chain.mineEmpty(2 + world.payoutConfirmations);
    await world.follow();
    for (const [whose, id] of [
      [its, goodId],
      [hostile, badId],
    ] as const)
      expect((await whose.until(id, 'completed')).txid).toBe(first);
    await world.indexed();
    expect([await its.unitsOf(scriptOf(926)), (await its.held()).units]).toEqual([30n, before.units - 10n]);
    await world.eventually(async () => (await hostile.held()).sats === 21_000n);
    expect(await hostile.reserved()).toBe(0n);
    await its.audit();
  });

  // stolen sats are no longer in coins, so the sums differ from here on
  test("whose input is in a stranger's block is planned again, and arrives once", async () => {
    const { world } = shop;
    const { chain } = world;
    const robbed = await its.ofOther();
    const order = await robbed.ordered(1n);
    await shop.send([
      { value: 30_000, outputScript: order.tokenScript },
      { value: 10_000, outputScript: order.feeScript },
    ]);
    await chain.mineMempool();
    await world.eventually(async () => (await robbed.held()).sats === 31_000n);
    const { id } = await robbed.asked(robbed.bitcoin(20_000, addressOf(924), { feeFrom: 'withdrawal' }));
    const first = await sent(id, null, robbed);
    const { rows } = await world.database.pool.query<{ plan: StoredPayoutPlan }>(
      'SELECT plan FROM service.wallet_transactions WHERE txid = $1',
      [txidOf(first.txid!)],
    );
    const [input, ...others] = rows[0]!.plan.inputs;
    expect([input?.value, others.length]).toEqual([30_000, 0]);
    const stolen = await world.signElsewhere({
      version: 2,
      lockTime: 0,
      inputs: [
        {
          ...outpointParts(input!.outpoint),
          value: 30_000n,
          script: Buffer.from(input!.script, 'hex'),
          sequence: 0xffff_fffd,
          key: { branch: input!.branch ?? 1, index: input!.keyIndex },
          leafScript: null,
          path: 'key',
        },
      ],
      outputs: [{ kind: 'payout', script: scriptOf(0), value: 29_000n }],
      feeMax: 1_000n,
    });
    const reserved = await robbed.reserved();
    await chain.rpc.call('generateblock', [`raw(${Buffer.from(scriptOf(0)).toString('hex')})`, [stolen]]);
    const waiting = await waits(robbed, id);
    expect([waiting.state, waiting.txid, waiting.reason, await robbed.reserved()]).toEqual([
      'processing',
      first.txid,
      notThere,
      reserved,
    ]);
    await chain.mineEmpty(world.payoutConfirmations);
    const done = await robbed.mined(id);
    expect([done.tries, done.price, await robbed.reserved()]).toEqual([2, first.price, 0n]);
    expect(done.txid).not.toBe(first.txid);
    await world.indexed();
    expect(await chain.unspentOf(924)).toBe(Number(done.price.receivedBase));
    expect(await auditTokens({ database: world.database.pool })).toEqual([]);
  });
});
