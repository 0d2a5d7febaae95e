import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connectClient } from '#kernel/pg/pool.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import { asHeight, genesisHeight } from '#kernel/primitives/height.ts';
import { listenForPayments } from '#payments/listen-for-payments.ts';
import { readPaymentChanges, readPayments } from '#payments/payments.queries.ts';
import { rememberedBlocks } from '#payments/store/offset.store.ts';
import { envelopeScript } from '#test/builders/regtest/regtest-envelope.ts';
import {
  type RegtestTransaction,
  scriptOf,
  transaction,
} from '#test/builders/regtest/regtest-transaction.ts';
import { bitcoindForTests } from '#test/support/node/find-bitcoind.ts';
import { FollowedPayments } from '#test/support/payments/followed-payments.ts';

describe.skipIf(bitcoindForTests() === null)('payments seen, beside a real node', () => {
  let world: FollowedPayments;
  beforeAll(async () => {
    // a node needs at least 5 MB
    world = await FollowedPayments.start({ extra: ['-maxmempool=5'] });
    world.follow();
  });
  afterAll(() => world?.close());

  /** The payments of a watcher: outpoint, sats, and their location. */
  async function shown(watcher: string): Promise<string[]> {
    const payments = await readPayments(world.database.pool, watcher);
    return payments.map(({ txid, vout, value, block, goneAt, replacedBy }) => {
      const gone = replacedBy === null ? 'gone' : `replaced by ${displayHash(replacedBy)}`;
      const where = block === null ? 'mempool' : `block ${block.height}`;
      return `${displayHash(txid)}:${vout} ${value} ${goneAt === null ? where : gone}`;
    });
  }
  const eventually = (watcher: string, expected: readonly string[]): Promise<void> =>
    world.eventually(async () => expect((await shown(watcher)).toSorted()).toEqual(expected.toSorted()));
  const send = (made: RegtestTransaction): Promise<void> => world.chain.broadcast(made);

  test('a payment is seen in the mempool, replaced, mined, taken back and replaced again', async () => {
    const height = await world.chain.height();
    await world.watch('order a', { script: scriptOf(50), sinceHeight: asHeight(height + 1) });
    const client = await connectClient(world.database.url);
    let told = 0;
    await listenForPayments(client, () => told++);
    const coin = await world.chain.coin();
    const low = transaction([coin], [{ value: 50_000, to: 50 }, { value: coin.value - 60_000 }]);
    await send(low);
    await eventually('order a', [`${low.txid}:0 50000 mempool`]);
    await world.eventually(async () => expect(told).toBeGreaterThan(0));
    await client.end();
    const high = transaction([coin], [{ value: 60_000, to: 50 }, { value: coin.value - 160_000 }]);
    await send(high);
    const replaced = `${low.txid}:0 50000 replaced by ${high.txid}`;
    await eventually('order a', [replaced, `${high.txid}:0 60000 mempool`]);
    await world.chain.mine([high]);
    await eventually('order a', [replaced, `${high.txid}:0 60000 block ${height + 1}`]);
    await world.chain.takeBack(1);
    await eventually('order a', [replaced, `${high.txid}:0 60000 mempool`]);
    const other = transaction([coin], [{ value: coin.value - 500_000 }]);
    await send(other);
    await eventually('order a', [
      `${low.txid}:0 50000 replaced by ${other.txid}`,
      `${high.txid}:0 60000 replaced by ${other.txid}`,
    ]);
    await world.chain.mine([other]);
    await world.seen();
  });

  test('a payment whose unconfirmed parent is replaced names what replaced it; the parent itself may be mined', async () => {
    await world.watch('order b', { script: scriptOf(51), sinceHeight: asHeight(10_000) });
    const [one, two] = [await world.chain.coin(), await world.chain.coin()];
    const parent = transaction([one], [{ value: one.value - 20_000 }]);
    const child = transaction([parent.coin(0)], [{ value: 70_000, to: 51 }, { value: one.value - 120_000 }]);
    const mined = transaction([two], [{ value: two.value - 20_000 }]);
    const kept = transaction([mined.coin(0)], [{ value: 80_000, to: 51 }, { value: two.value - 120_000 }]);
    for (const made of [parent, child, mined, kept]) await send(made);
    await eventually('order b', [`${child.txid}:0 70000 mempool`, `${kept.txid}:0 80000 mempool`]);
    await world.chain.mine([mined]);
    const instead = transaction([one], [{ value: one.value - 900_000 }]);
    await send(instead);
    await eventually('order b', [
      `${child.txid}:0 70000 replaced by ${instead.txid}`,
      `${kept.txid}:0 80000 mempool`,
    ]);
    await world.chain.mineMempool();
    await world.seen();
  });

  test('a script is watched from any height: what was mined before, and what is in the mempool already', async () => {
    const coin = await world.chain.coin();
    const first = transaction([coin], [{ value: 90_000, to: 52 }, { value: coin.value - 200_000 }]);
    const { height } = await world.chain.mine([first]);
    await world.chain.mineEmpty(2);
    const second = transaction([first.coin(1)], [{ value: 40_000, to: 52 }, { value: coin.value - 300_000 }]);
    await send(second);
    await world.seen();
    await world.watch('order c', { script: scriptOf(52), sinceHeight: asHeight(height + 1) });
    await eventually('order c', [`${second.txid}:0 40000 mempool`]);
    await world.watch('order d', { script: scriptOf(52), sinceHeight: asHeight(height) });
    const all = [`${first.txid}:0 90000 block ${height}`, `${second.txid}:0 40000 mempool`];
    await eventually('order d', all);
    await eventually('order c', all.slice(1));
    await world.watch('order c', { script: scriptOf(52), sinceHeight: asHeight(height) });
    await eventually('order c', all);
    const changes = await readPaymentChanges(world.database.pool, 0, 1000);
    const watchers = changes.filter(({ payment }) => displayHash(payment.txid) === first.txid);
    expect(watchers.map((change) => change.watchers)).toEqual([['order c', 'order d']]);
    await world.unwatch('order d');
    await eventually('order d', []);
    await eventually('order c', all);
    await world.unwatch('order c', scriptOf(52));
    const { rows } = await world.database.pool.query('SELECT FROM service.payments_seen WHERE script = $1', [
      scriptOf(52),
    ]);
    expect(rows).toEqual([]);
    await world.seen();
  });

  test('a payment that the node evicts for transactions that pay more is gone, and is there when it is mined', async () => {
    await world.watch('order f', { script: scriptOf(54), sinceHeight: asHeight(10_000) });
    const [coin, other] = [await world.chain.coin(), await world.chain.coin()];
    const low = transaction([coin], [{ value: 50_000, to: 54 }, { value: coin.value - 50_250 }]);
    const filling = Array.from({ length: 14 }, (_, index) =>
      envelopeScript({ contentType: 'image/png', body: Buffer.alloc(380_000, index) }),
    );
    const commits = filling.map((commit) => ({ value: 500_000, commit }));
    const commit = transaction([other], [...commits, { value: other.value - 8_000_000 }]);
    await world.chain.mine([commit]);
    await send(low);
    await eventually('order f', [`${low.txid}:0 50000 mempool`]);
    // each transaction pays more than the previous one, so that the node drops the payment first
    for (const index of filling.keys()) {
      if (!(await world.bitcoind.rpc.call<string[]>('getrawmempool')).includes(low.txid)) break;
      await send(transaction([commit.coin(index)], [{ value: 300_000 - 10_000 * index }]));
    }
    await eventually('order f', [`${low.txid}:0 50000 gone`]);
    const { height } = await world.chain.mine([low]);
    await eventually('order f', [`${low.txid}:0 50000 block ${height}`]);
    // these transactions fill two blocks; mine them, because they leave no room to other tests
    for (let block = 0; block < 2; block++) await world.chain.mineMempool();
    await world.seen();
  });

  test('more blocks than are remembered are taken back, and others come in their place', {
    tags: ['proof'],
  }, async () => {
    const depth = rememberedBlocks + 6;
    await world.watch('order g', { script: scriptOf(55), sinceHeight: asHeight(0) });
    const coin = await world.chain.coin();
    const kept = transaction([coin], [{ value: 30_000, to: 55 }, { value: coin.value - 40_000 }]);
    const { height } = await world.chain.mine([kept]);
    const moved = transaction([kept.coin(1)], [{ value: 31_000, to: 55 }, { value: coin.value - 90_000 }]);
    await world.chain.mine([moved]);
    await world.chain.mineEmpty(depth - 1);
    await eventually('order g', [
      `${kept.txid}:0 30000 block ${height}`,
      `${moved.txid}:0 31000 block ${height + 1}`,
    ]);
    await world.seen();
    await world.chain.takeBack(depth);
    // a node takes back only the transactions of the last ten blocks, so the owner sends this transaction again
    await send(moved);
    await world.eventually(async () => {
      const { rowCount } = await world.database.pool.query(
        'SELECT FROM service.payment_inputs WHERE txid = $1',
        [Buffer.from(moved.txid, 'hex').reverse()],
      );
      expect(rowCount).toBe(1);
    });
    const instead = transaction([kept.coin(1)], [{ value: 32_000, to: 55 }, { value: coin.value - 99_000 }]);
    await world.chain.mine();
    await world.chain.mine([instead]);
    await world.chain.mineEmpty(depth);
    await eventually('order g', [
      `${kept.txid}:0 30000 block ${height}`,
      `${moved.txid}:0 31000 replaced by ${instead.txid}`,
      `${instead.txid}:0 32000 block ${height + 2}`,
    ]);
    await world.seen();
  });

  test('what happened while nothing ran is found: mined, replaced by a block, gone with a branch', async () => {
    await world.watch('order e', { script: scriptOf(53), sinceHeight: genesisHeight });
    const coins = [await world.chain.coin(), await world.chain.coin()];
    const [mined, doubled] = coins.map((coin) =>
      transaction([coin], [{ value: 30_000, to: 53 }, { value: coin.value - 40_000 }]),
    );
    for (const made of [mined!, doubled!]) await send(made);
    await eventually('order e', [`${mined!.txid}:0 30000 mempool`, `${doubled!.txid}:0 30000 mempool`]);
    await world.kill();
    const instead = transaction([coins[1]!], [{ value: coins[1]!.value - 50_000 }]);
    const { height } = await world.chain.mine([mined!, instead]);
    await world.chain.takeBack(1);
    await world.chain.mine([instead]);
    await world.chain.mine([mined!]);
    world.follow();
    await eventually('order e', [
      `${mined!.txid}:0 30000 block ${height + 1}`,
      `${doubled!.txid}:0 30000 replaced by ${instead.txid}`,
    ]);
    await world.seen();
  });
});
