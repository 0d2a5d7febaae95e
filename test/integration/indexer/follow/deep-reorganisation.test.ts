import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { follow } from '#indexer/follow/follow.ts';
import { openNodeSource } from '#indexer/source/node-source.ts';
import type { LiveBlockSource } from '#kernel/contracts/live-source.ts';
import { asHeight, genesisHeight } from '#kernel/primitives/height.ts';
import { createLogger } from '#kernel/reports/logger.ts';
import { type BitcoinNode, connectNode } from '#node/bitcoin-node.ts';
import { pastOfNode } from '#src/app/indexing/past.ts';
import { GoldenChain } from '#test/support/chain/golden/golden-chain.ts';
import { indexTests } from '#test/support/chain/index-tests.ts';
import { readSatTables } from '#test/support/chain/sats/sat-tables.ts';
import { type Bitcoind, startBitcoind } from '#test/support/node/bitcoind.ts';
import { bitcoindForTests } from '#test/support/node/find-bitcoind.ts';
import { feedGoldenChain } from '#test/support/node/regtest-feed.ts';
import { parseThreads } from '#test/support/parse-threads.ts';
import { runCli } from '#test/support/run-cli.ts';

const { freshDatabase } = indexTests();
const { signal } = new AbortController();
const satsKeepBlocks = 6;
/** A P2WPKH address of regtest whose key is not known. */
const address = 'bcrt1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqdku202';

describe.skipIf(bitcoindForTests() === null)(
  'a reorganisation of a node, deeper than the index of sats keeps',
  () => {
    const golden = new GoldenChain('sats-1');
    const tip = golden.chain.headers.at(-1)!.height;
    let bitcoind: Bitcoind;
    let node: BitcoinNode;
    let source: LiveBlockSource;

    beforeAll(async () => {
      bitcoind = await startBitcoind({ zmq: [], txindex: false });
      await feedGoldenChain(bitcoind.rpc, golden);
      node = await connectNode(bitcoind.settings);
      source = openNodeSource(node, { firstHeight: genesisHeight });
    });
    afterAll(async () => {
      await source.close();
      await bitcoind.remove();
    });

    const index = async (pool: pg.Pool): Promise<void> => {
      const { height } = await source.tip();
      await follow({
        source,
        pool,
        signal,
        threads: parseThreads(),
        until: height,
        indexSats: true,
        satsKeepBlocks,
        openPast: () => pastOfNode({ pool, node, blocks: source, logger: createLogger('silent') }),
      });
    };

    test('leaves the sats of a clean index, traced through blocks that the node has left', async () => {
      const { pool, url } = await freshDatabase();
      await index(pool);
      const before = await readSatTables(pool);
      // this is half of the chain, so that stale blocks spend outputs of stale blocks
      const fork = Math.floor(tip / 2);
      const left = await bitcoind.rpc.call<string>('getblockhash', [fork + 1]);
      await bitcoind.rpc.call('invalidateblock', [left]);
      await bitcoind.rpc.call('generatetoaddress', [tip - fork + 3, address], { timeoutMs: 60_000 });
      await index(pool);
      const clean = await freshDatabase();
      await index(clean.pool);
      const after = await readSatTables(pool);
      expect(after).toEqual(await readSatTables(clean.pool));
      expect(after).not.toEqual(before);
      // go back: the old branch is the best again
      await bitcoind.rpc.call('invalidateblock', [
        await bitcoind.rpc.call<string>('getblockhash', [fork + 1]),
      ]);
      await bitcoind.rpc.call('reconsiderblock', [left]);
      await bitcoind.rpc.call('generatetoaddress', [5, address], { timeoutMs: 60_000 });
      await index(pool);
      const again = await readSatTables(pool);
      expect(again.ranges).toMatchObject(before.ranges);
      // `rollback` also asks the node, and changes nothing if the node does not answer
      const deep = ['rollback', '--to', String(fork), '--yes', '--log-level', 'warn'];
      const refused = await runCli([...deep, '--node', 'http://127.0.0.1:1'], { DATABASE_URL: url });
      expect(refused.stderr).toContain('sats_forgotten');
      expect(await readSatTables(pool)).toEqual(again);
      const { cookieFile, rpcUrl } = bitcoind;
      const done = await runCli([...deep, '--node', rpcUrl, '--cookie-file', cookieFile], {
        DATABASE_URL: url,
      });
      expect(done).toMatchObject({ exitCode: 0 });
      const lower = await freshDatabase();
      await follow({
        source,
        pool: lower.pool,
        signal,
        threads: parseThreads(),
        until: asHeight(fork),
        indexSats: true,
        satsKeepBlocks,
      });
      expect(await readSatTables(pool)).toEqual(await readSatTables(lower.pool));
    }, 240_000);
  },
);
