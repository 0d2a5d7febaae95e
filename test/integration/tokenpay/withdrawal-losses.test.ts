import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { StoredPayoutPlan } from '#payouts/payout/payout.ts';
import { outpointParts } from '#purse/transactions/outpoint.ts';
import { addressOf, scriptOf } from '#test/builders/regtest/regtest-transaction.ts';
import { bitcoindForTests } from '#test/support/node/find-bitcoind.ts';
import { ShopWithdrawals, type ShownWithdrawal } from '#test/support/tokenpay/shop-withdrawals.ts';
import { ShopWorld } from '#test/support/tokenpay/shop-world.ts';
import { auditTokens } from '#tokenpay/audit/audit-tokens.ts';

/** Seconds after which nodes forget what no block has (-mempoolexpiry), and a day. */
const expiredS = 15 * 24 * 60 * 60;
const notThere: unknown = expect.stringMatching(
  /^What its transaction spends is not there: it is planned again 3 blocks after/u,
);
const txidOf = (shown: string): Buffer => Buffer.from(shown, 'hex').reverse();
/** Sats by which the node takes the fee of a transaction for less than it is. */
const feeDelta = 1_000_000;

// balances add up from test to test
describe.skipIf(bitcoindForTests() === null)('a withdrawal that is sent', { shuffle: false }, () => {
  let shop: ShopWorld;
  let its: ShopWithdrawals;
  beforeAll(async () => {
    shop = await ShopWorld.start();
    its = new ShopWithdrawals(shop, await shop.etch(1_000_000n, 0));
    await its.earn(1_000n, 60_000);
    // a batch leaves coins without an owner
    await its.mined((await its.asked(its.units(100, addressOf(920)))).id);
  }, 180_000);
  afterAll(() => shop?.close());

  const mempool = () => shop.world.chain.rpc.call<string[]>('getrawmempool');
  /** Settles when the node has a withdrawal's transaction, which is not the one before. */
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

  /** Has the node forget its mempool, except for what comes then. */
  async function evict(txid: string): Promise<void> {
    const { rpc } = shop.world.chain;
    const best = await rpc.call<string>('getbestblockhash');
    const { time } = await rpc.call<{ time: number }>('getblockheader', [best]);
    await rpc.call('setmocktime', [time + expiredS]);
    await shop.world.chain.pay(scriptOf(0), 10_000);
    await rpc.call('setmocktime', [0]);
    expect(await mempool()).not.toContain(txid);
  }

  test('and evicted is sent again, and says why where the node refuses it', async () => {
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
      expect.stringMatching(/^The node refused its transaction: .*fee not met/u),
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

  // what was stolen is no longer in coins: the sums differ from then on
  test('whose input a block of a stranger has is planned again, and arrives once', async () => {
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
