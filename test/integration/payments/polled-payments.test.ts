import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { displayHash } from '#kernel/primitives/hash.ts';
import { asHeight } from '#kernel/primitives/height.ts';
import { readPayments } from '#payments/payments.queries.ts';
import { countUnscanned } from '#payments/store/watches.store.ts';
import {
  type RegtestTransaction,
  scriptOf,
  transaction,
} from '#test/builders/regtest/regtest-transaction.ts';
import { bitcoindForTests } from '#test/support/node/find-bitcoind.ts';
import { FollowedPayments } from '#test/support/payments/followed-payments.ts';

describe.skipIf(bitcoindForTests() === null)('payments beside a pruned node that sends no messages', () => {
  let world: FollowedPayments;
  /** A payment in a block that is pruned, and a payment in a block that still exists. */
  let pruned: { readonly made: RegtestTransaction; readonly height: number };
  let there: { readonly made: RegtestTransaction; readonly height: number };

  beforeAll(async () => {
    world = await FollowedPayments.start({ zmq: [], prune: true });
    pruned = await pay(70);
    await generate(800);
    there = await pay(71);
    await generate(400);
    await world.bitcoind.rpc.call('pruneblockchain', [there.height - 1]);
    world.follow();
  });
  afterAll(() => world?.close());

  const generate = (count: number): Promise<unknown> =>
    world.bitcoind.rpc.call('generatetodescriptor', [count, 'raw(51)']);

  async function paying(owner: number, value = 50_000): Promise<RegtestTransaction> {
    const coin = await world.chain.coin();
    return transaction([coin], [{ value, to: owner }, { value: coin.value - value - 10_000 }]);
  }

  async function pay(owner: number): Promise<{ made: RegtestTransaction; height: number }> {
    const made = await paying(owner);
    const { height } = await world.chain.mine([made]);
    return { made, height };
  }

  const eventually = (watcher: string, expected: readonly string[]): Promise<void> =>
    world.eventually(async () => {
      const payments = await readPayments(world.database.pool, watcher);
      const shown = payments.map(({ txid, block, goneAt }) => {
        const where = block === null ? 'mempool' : `block ${block.height}`;
        return `${displayHash(txid)} ${goneAt === null ? where : 'gone'}`;
      });
      expect(shown.toSorted()).toEqual(expected.toSorted());
    });
  const refusals = (): number =>
    world.logged.filter(({ msg, err }) => msg.startsWith('old blocks') && err?.code === 'node_pruned').length;

  test('are found from the height on that the node has, and a watch from below it is refused, alone', async () => {
    const { pruneheight } = await world.bitcoind.rpc.call<{ pruneheight: number }>('getblockchaininfo');
    expect(pruneheight).toBeGreaterThan(pruned.height);
    expect(pruneheight).toBeLessThan(there.height);
    await world.watch('pruned', { script: scriptOf(70), sinceHeight: asHeight(pruned.height) });
    await world.eventually(async () => expect(refusals()).toBe(1));
    await world.watch('there', { script: scriptOf(71), sinceHeight: asHeight(pruneheight) });
    await eventually('there', [`${there.made.txid} block ${there.height}`]);
    // from now on, new payments to both scripts are seen
    const later = await pay(70);
    await eventually('pruned', [`${later.made.txid} block ${later.height}`]);
    await world.eventually(async () => expect(await countUnscanned(world.database.pool)).toBe(1));
    expect(refusals()).toBe(1);
    await world.unwatch('pruned');
    expect(await countUnscanned(world.database.pool)).toBe(0);
  });

  test('are seen in the mempool, replaced and mined, by a process that asks', async () => {
    await world.watch('order', { script: scriptOf(72), sinceHeight: asHeight(10_000) });
    const coin = await world.chain.coin();
    const low = transaction([coin], [{ value: 50_000, to: 72 }, { value: coin.value - 60_000 }]);
    await world.chain.broadcast(low);
    await eventually('order', [`${low.txid} mempool`]);
    const high = transaction([coin], [{ value: 60_000, to: 72 }, { value: coin.value - 160_000 }]);
    await world.chain.broadcast(high);
    await eventually('order', [`${low.txid} gone`, `${high.txid} mempool`]);
    const { height } = await world.chain.mineMempool();
    await eventually('order', [`${low.txid} gone`, `${high.txid} block ${height}`]);
    await world.chain.takeBack(1);
    await eventually('order', [`${low.txid} gone`, `${high.txid} mempool`]);
  });

  test('are seen by a process that stood by once the first one is killed', async () => {
    await world.watch('order s', { script: scriptOf(73), sinceHeight: asHeight(10_000) });
    const first = await paying(73);
    await world.chain.broadcast(first);
    await eventually('order s', [`${first.txid} mempool`]);
    world.standBy();
    const said = (words: string): number => world.logged.filter(({ msg }) => msg.includes(words)).length;
    await world.eventually(async () => expect(said('on standby')).toBe(1));
    const follows = said('payments are followed');
    await world.killFirst();
    const second = await paying(73);
    const { height } = await world.chain.mine([first, second]);
    await eventually('order s', [`${first.txid} block ${height}`, `${second.txid} block ${height}`]);
    expect(said('payments are followed')).toBe(follows + 1);
  });
});
