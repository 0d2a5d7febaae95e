import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { displayHash, type Txid } from '#kernel/primitives/hash.ts';
import { networks } from '#kernel/primitives/network.ts';
import { orderAnswer } from '#orders/customers/order-answer.ts';
import type { OrderTerms } from '#orders/inscribing/order-terms.ts';
import { duePackages } from '#orders/mining/packages.store.ts';
import { refundOrder } from '#orders/operator/operator-orders.ts';
import type { OrderTransaction } from '#orders/order/order-transactions.store.ts';
import { scriptOf } from '#test/builders/regtest/regtest-transaction.ts';
import { wantedOrder } from '#test/builders/wanted-order.ts';
import { bitcoindForTests } from '#test/support/node/find-bitcoind.ts';
import { home, lentParents } from '#test/support/orders/lent-parents.ts';
import { OrderWorld } from '#test/support/orders/order-world.ts';
import { Payer } from '#test/support/orders/payer.ts';
import { refusalOfMiner, StandInMiner } from '#test/support/orders/stand-in-miner.ts';

/** Size of a content in bytes. It is larger than about 396,000 bytes, which is the maximum that nodes relay. */
const contentBytes = 450_000;
const refundTo = scriptOf(701);
const largeText = (): string => randomBytes(contentBytes / 2).toString('hex');

describe.skipIf(bitcoindForTests() === null)('orders of files above the standard size', () => {
  let miner: StandInMiner;
  let world: OrderWorld;
  beforeAll(async () => {
    miner = await StandInMiner.start();
    world = await OrderWorld.start({ extra: ['-persistmempool=0'] }, 180, {}, miner.url);
    miner.decodeWith(world.bitcoind.rpc);
  });
  afterEach(async () => {
    expect(await differences()).toEqual([]);
    miner.reset();
  });
  afterAll(async () => {
    await world?.close();
    await miner?.close();
  });

  const differences = async () => {
    const { differences: found, funds } = await world.audit();
    return [...found, ...funds];
  };

  /** Makes an order of one large text that is paid in a block. */
  async function paid(more: Partial<OrderTerms> = {}, extra = 0): Promise<string> {
    const wanted = wantedOrder([largeText()], { nonStandard: true, ...more });
    expect(wanted.layout.paidTo).toBe('wallet');
    const { order } = await world.customerOrders.create({ ...wanted, refundScript: refundTo });
    await world.chain.pay(order.script, Number(order.amount) + extra);
    await world.chain.mineMempool();
    await world.until(order.id, 'queued');
    return order.id;
  }

  async function made(id: string): Promise<readonly OrderTransaction[]> {
    return (await world.customerOrders.read(id))!.transactions;
  }
  const kindsOf = async (id: string) => (await made(id)).map(({ kind }) => kind);
  const errorOf = async (id: string) => (await world.customerOrders.read(id))!.order.error;

  /** The only package of an order that the miner has received. Waits for this package. */
  const packageOf = (id: string) =>
    world.eventually(async () => {
      const reveal = await revealOf(id);
      return miner.packages.find((seen) => seen.id === reveal) ?? false;
    });
  async function revealOf(id: string): Promise<string> {
    const { rows } = await world.database.pool.query<{ txid: Txid }>(
      `SELECT reveal AS txid FROM service.miner_packages WHERE order_id = $1`,
      [id],
    );
    return displayHash(rows[0]!.txid);
  }

  const acceptances = async (id: string): Promise<number> => {
    const accepted = 'SELECT FROM service.miner_packages WHERE order_id = $1 AND accepted_at IS NOT NULL';
    return (await world.database.pool.query(accepted, [id])).rowCount ?? 0;
  };

  /** Moves the end of an order's time into the past. */
  async function late(id: string): Promise<void> {
    await world.database.pool.query(
      `UPDATE service.miner_packages SET mined_until = now() - interval '1 second' WHERE order_id = $1`,
      [id],
    );
    await world.wake(id);
  }

  const mempool = () => world.bitcoind.rpc.call<string[]>('getrawmempool');
  /** Whether the node has ever had a transaction, in its mempool or in a block. */
  async function isKnown(txid: string): Promise<boolean> {
    if ((await mempool()).includes(txid)) return true;
    return (await world.bitcoind.rpc.call('gettxout', [txid, 0])) !== null;
  }

  /** Waits for the mined refund, and returns the sats that the customer gets. */
  async function refunded(id: string): Promise<number> {
    const refund = await world.eventually(
      async () => (await made(id)).find(({ kind }) => kind === 'refund') ?? false,
    );
    // the same refund as before is sent
    await world.eventually(async () => (await mempool()).includes(displayHash(refund.txid)));
    await world.chain.mineMempool();
    await world.until(id, 'refunded');
    expect(refund.plan.outputs.map(({ kind, script }) => [kind, script])).toEqual([
      ['refund', Buffer.from(refundTo).toString('hex')],
    ]);
    return refund.plan.outputs[0]!.value;
  }

  test('are delivered once the miner has mined them, and the index has them', async () => {
    const id = await paid();
    const seen = await packageOf(id);
    expect(seen.isCommitKnown).toBe(false);
    expect(seen.reveal.weight).toBeGreaterThan(400_000);
    expect(seen.reveal.vin.map(({ txid }) => txid)).toEqual([seen.commit.txid]);
    await world.sent(id, ['commit']);
    expect(await mempool()).toEqual([seen.commit.txid]);
    await miner.mine();
    await world.until(id, 'completed');
    expect(miner.packages).toHaveLength(1);
  });

  test('are delivered if the commit is mined first', async () => {
    const id = await paid({}, 20_000);
    await packageOf(id);
    await world.sent(id, ['commit']);
    await world.chain.mineMempool();
    await world.indexed();
    await miner.mine('reveal');
    await world.until(id, 'completed');
    // an excess payment is refunded as usual
    await world.sent(id, ['refund']);
    await world.chain.mineMempool();
  });

  test('are refunded if the miner refuses them, and the node never has their commit', async () => {
    miner.packagesMood = 'refuses';
    const id = await paid();
    const { commit } = await packageOf(id);
    await world.until(id, 'waiting-refund');
    expect(await errorOf(id)).toBe(`The miner refused the transaction: ${refusalOfMiner}`);
    await refunded(id);
    expect(await kindsOf(id)).toEqual(['refund']);
    expect(await isKnown(commit.txid)).toBe(false);
    expect(await errorOf(id)).toContain(refusalOfMiner);
  });

  test.each(['silent', 'broken'] as const)(
    'wait while the miner is %s, and are refunded after its time',
    async (mood) => {
      miner.packagesMood = mood;
      const id = await paid();
      const { commit } = await packageOf(id);
      if (mood === 'broken') {
        // the miner is asked repeatedly, because its silence is not consent
        await world.eventually(async () => miner.packages.length > 2);
      }
      await world.chain.mineMempool();
      await world.indexed();
      expect(await isKnown(commit.txid)).toBe(false);
      await late(id);
      await world.until(id, 'waiting-refund');
      expect(await errorOf(id)).toMatch(/did not answer within 24 hours/u);
      await refunded(id);
      expect(await isKnown(commit.txid)).toBe(false);
    },
  );

  test('that were accepted and never mined are refunded from their commit', async () => {
    const id = await paid({}, 5_000);
    const { commit } = await packageOf(id);
    await world.sent(id, ['commit']);
    await world.chain.mineMempool();
    await world.indexed();
    await late(id);
    await world.until(id, 'waiting-refund');
    expect(await errorOf(id)).toMatch(/accepted the transaction, but did not mine it/u);
    const amount = Number((await world.customerOrders.read(id))!.order.amount) + 5_000;
    const back = await refunded(id);
    // the customer gets everything except the fees of two small transactions, regardless of the node's present estimate
    const fees = (await made(id)).reduce((sum, { fee }) => sum + fee, 0);
    expect(back).toBe(amount - fees);
    expect(fees).toBeLessThan(10_000);
    expect(await isKnown(commit.txid)).toBe(false);
    expect(await kindsOf(id)).toEqual(['commit', 'refund']);
  });

  test('that were given up before their commit was mined are refunded after it', async () => {
    const id = await paid();
    await packageOf(id);
    await world.sent(id, ['commit']);
    await late(id);
    await world.until(id, 'waiting-refund');
    expect(await kindsOf(id)).toEqual(['commit']);
    await world.chain.mineMempool();
    await refunded(id);
  });

  test('that are still mined after their refund was sent are delivered, and not refunded', async () => {
    const id = await paid();
    await packageOf(id);
    await world.sent(id, ['commit']);
    await world.chain.mineMempool();
    await world.indexed();
    await late(id);
    await world.until(id, 'waiting-refund');
    await world.sent(id, ['refund']);
    await miner.mine('reveal');
    await world.until(id, 'completed');
    expect(await kindsOf(id)).toEqual(['commit', 'reveal']);
    expect(await mempool()).toEqual([]);
  });

  test('follow the chain if reorganisations prefer the refund or the reveal', {
    tags: ['proof'],
  }, async () => {
    const { rpc } = world.bitcoind;
    const id = await paid();
    await packageOf(id);
    await world.sent(id, ['commit']);
    await world.chain.mineMempool();
    await world.indexed();
    await late(id);
    await refunded(id);
    expect(await differences()).toEqual([]);

    await rpc.call('invalidateblock', [await rpc.call('getbestblockhash')]);
    const mined = await miner.mine('reveal');
    await world.until(id, 'completed');
    expect(await kindsOf(id)).toEqual(['commit', 'reveal']);
    expect(await differences()).toEqual([]);

    await rpc.call('invalidateblock', [mined]);
    await world.chain.mineEmpty(1);
    // the time of the order begins again
    await world.until(id, 'queued');
    await world.eventually(async () => (await acceptances(id)) > 0 && miner.packages.length === 2);
    await late(id);
    await world.until(id, 'waiting-refund');
    await world.eventually(async () => (await kindsOf(id)).includes('refund'));
    // with each block everything is sent again
    await world.chain.mineEmpty(1);
    await refunded(id);
    expect(await kindsOf(id)).toEqual(['commit', 'refund']);
  });

  test('that a miner mines after refusing them are delivered, and customers see it', async () => {
    miner.packagesMood = 'refuses';
    const id = await paid();
    const { reveal } = await packageOf(id);
    await world.until(id, 'waiting-refund');
    await world.sent(id, ['refund']);
    await miner.mine();
    await world.until(id, 'completed');
    expect(await kindsOf(id)).toEqual(['commit', 'reveal']);
    const found = (await world.customerOrders.read(id))!;
    expect(orderAnswer(found.order, found, networks.regtest, 'http://orders.test')).toMatchObject({
      files: [{ inscriptionId: `${reveal.txid}i0`, sent: reveal.txid, completed: true }],
    });
  });

  test('are handed over again after a reorganisation removed their reveal', async () => {
    const id = await paid();
    await packageOf(id);
    await world.sent(id, ['commit']);
    await world.chain.mineMempool();
    await world.indexed();
    await miner.mine('reveal');
    await world.until(id, 'completed');
    await world.chain.takeBack(1);
    await world.chain.mineEmpty(2);
    await world.until(id, 'queued');
    await world.eventually(async () => miner.packages.length === 2);
    await miner.mine('reveal');
    await world.until(id, 'completed');
  });

  test('that were given up and have only their commit in a block are refunded from it', async () => {
    miner.packagesMood = 'refuses';
    const id = await paid();
    const { hexes } = await packageOf(id);
    await world.until(id, 'waiting-refund');
    await world.sent(id, ['refund']);
    await miner.mineThese(hexes.slice(0, 1));
    await world.eventually(async () => (await kindsOf(id)).join() === 'commit,refund');
    // the block is removed, and the node forgets the transaction
    await world.chain.takeBack(1);
    await world.bitcoind.restart();
    await world.chain.mineEmpty(2);
    await world.eventually(async () => (await mempool()).length === 2);
    await refunded(id);
  });

  test('can be ended by the operator while the miner is silent', async () => {
    miner.packagesMood = 'silent';
    const id = await paid();
    const { commit } = await packageOf(id);
    await refundOrder(world.database.pool, id, refundTo);
    await world.until(id, 'waiting-refund');
    await refunded(id);
    expect(await isKnown(commit.txid)).toBe(false);
  });

  test('a silent miner delays no other order', async () => {
    miner.packagesMood = 'silent';
    const id = await paid();
    await packageOf(id);
    const { order } = await world.customerOrders.create(wantedOrder(['beside']));
    await world.chain.pay(order.script, Number(order.amount));
    await world.deliver(order.id);
    await late(id);
    await world.until(id, 'waiting-refund');
    await refunded(id);
  });

  test('children of a parent are delivered, and it returns with them', async () => {
    const { inscribed, termsOf, ordered, to, send, expectAt } = lentParents(() => world);
    const [parent] = await inscribed(['parent of a large child']);
    const terms = { nonStandard: true };
    const { id, deposits, charge } = await ordered([largeText()], [termsOf(parent!)], { terms });
    await send([parent!], [to(deposits[0], parent!), charge]);
    await world.chain.mineMempool();
    await packageOf(id);
    await world.sent(id, ['commit']);
    await miner.mine();
    await world.until(id, 'completed');
    await expectAt(parent!, scriptOf(home));
  });

  test('children that are never mined are refunded, and their parent returns', {
    tags: ['proof'],
  }, async () => {
    const { inscribed, termsOf, ordered, to, send, expectAt } = lentParents(() => world);
    const [parent] = await inscribed(['parent without a child']);
    const more = { terms: { nonStandard: true }, refundScript: refundTo };
    const { id, deposits, charge } = await ordered([largeText()], [termsOf(parent!)], more);
    await send([parent!], [to(deposits[0], parent!), charge]);
    await world.chain.mineMempool();
    await packageOf(id);
    await world.sent(id, ['commit']);
    await world.chain.mineMempool();
    await world.indexed();
    await late(id);
    await world.until(id, 'waiting-refund');
    await world.sent(id, ['return']);
    // the return also refunds the rest of the money
    const { plan } = (await made(id)).find(({ kind }) => kind === 'return')!;
    expect(plan.outputs.map(({ kind }) => kind).toSorted()).toEqual(['parent', 'refund']);
    await world.chain.mineMempool();
    await world.until(id, 'refunded');
    await expectAt(parent!, scriptOf(home));
  });

  test('a package is handed over again after a restart, and its answer counts', async () => {
    miner.packagesMood = 'silent';
    const id = await paid();
    await packageOf(id);
    await world.stop();
    miner.packagesMood = 'accepts';
    await world.follow();
    await world.sent(id, ['commit']);
    expect(new Set(miner.packages.map((seen) => seen.id)).size).toBe(1);
    await miner.mine();
    await world.until(id, 'completed');
  });

  test('begin again if their payment is gone for a while, whatever the miner said meanwhile', {
    tags: ['proof'],
  }, async () => {
    const { rpc } = world.bitcoind;
    const { pool } = world.database;
    miner.packagesMood = 'broken';
    const wanted = wantedOrder([largeText()], { nonStandard: true });
    const { order } = await world.customerOrders.create({ ...wanted, refundScript: refundTo });
    const payer = new Payer(world, order);
    const payment = await payer.pay(payer.amount);
    await payer.mine();
    const paidIn = await rpc.call('getbestblockhash');
    await payer.until('queued');
    await packageOf(order.id);

    // a miner refuses inputs that are in no block yet
    await payer.reorganise(1);
    await payer.until('waiting-confirmation');
    const fork = await rpc.call('getblockhash', [(await rpc.call<number>('getblockcount')) - 1]);
    await pool.query('UPDATE service.miner_packages SET ask_at = now() WHERE order_id = $1', [order.id]);
    expect(await duePackages(pool, [], 10)).toEqual([]);
    await payer.replace(payment, null);
    await payer.mine();
    await payer.until('waiting-payment');
    // the miner was asked before, and answers late
    await pool.query(
      `UPDATE service.miner_packages SET ask_at = NULL, refused_at = now(), refusal = 'missing inputs' WHERE order_id = $1`,
      [order.id],
    );

    miner.packagesMood = 'accepts';
    await rpc.call('invalidateblock', [fork]);
    await rpc.call('reconsiderblock', [paidIn]);
    await world.chain.mineEmpty(4);
    await world.sent(order.id, ['commit']);
    await miner.mine();
    await payer.until('completed');
  });

  test('no log has the address of the miner', () => {
    expect(world.logged.join('')).not.toContain('secret-of-the-operator');
  });
});
