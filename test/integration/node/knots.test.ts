import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseBlockHash } from '#kernel/primitives/hash.ts';
import { connectNode } from '#node/bitcoin-node.ts';
import { knotsForTests } from '#test/support/node/find-bitcoind.ts';
import { LiveMempool } from '#test/support/node/live-mempool.ts';
import { startNodeProxy } from '#test/support/node/regtest-proxy.ts';

const knots = knotsForTests();

/** The differences between Bitcoin Knots and Bitcoin Core, and the things that are equal. */
describe.skipIf(knots === null)('Bitcoin Knots', () => {
  let live: LiveMempool;

  beforeAll(async () => {
    live = await LiveMempool.start({ executable: knots! });
    live.index();
    live.follow();
    await live.indexed();
  });
  afterAll(() => live.close());

  test('is told to be a node that relays no inscription, in one line and in /status', async () => {
    const { reveals, advice } = live.node.facts;
    expect(reveals).toBe('refused');
    expect(advice.map(({ message }) => message)).toEqual([
      expect.stringContaining('This node is Bitcoin Knots, whose mempool accepts no reveal'),
    ]);
    await live.eventually(async () => {
      expect(await live.get('/status')).toMatchObject({
        satscribe: { mempool: { state: 'following', reveals: 'refused' } },
      });
    });
  });

  test('lets no reveal into its mempool, and takes it in a block, which is indexed', async () => {
    const { commit, reveal } = await live.chain.inscribe({ contentType: 'text/plain', body: 'refused' });
    await live.chain.broadcast(commit);
    await expect(live.chain.broadcast(reveal)).rejects.toThrow('mempool-script-verify-flag-failed');
    const { height } = await live.chain.mine([commit, reveal]);
    await live.indexed();
    expect(await live.get(`/indexer/inscription?id=${reveal.id()}`)).toMatchObject({
      results: [{ inscriptionid: reveal.id(), blockheight: String(height) }],
    });
  });

  test('gives over REST what a block spends, as it does over RPC', async () => {
    expect(live.node.facts.spentOutputs).toBe('rest');
    const { transactions } = await live.chain.inscribe({ contentType: 'text/plain', body: 'spends' });
    const hash = parseBlockHash((await live.chain.mine(transactions)).hash)!;
    const overRest = await live.node.spentOutputs(hash);
    // the coinbase spends no output, and the commit spends one output
    expect([...overRest.bytes.subarray(0, 3)]).toEqual([3, 0, 1]);
    const proxy = await startNodeProxy(live.bitcoind.rpcUrl, (path) => path.startsWith('/rest/'));
    const byRpc = await connectNode({ ...live.bitcoind.settings, restUrl: proxy.url });
    expect(byRpc.facts.spentOutputs).toBe('rpc');
    expect(Buffer.from((await byRpc.spentOutputs(hash)).bytes).equals(overRest.bytes)).toBe(true);
    await byRpc.close();
    await proxy.close();
  });
});
