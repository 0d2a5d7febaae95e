import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { follow } from '#indexer/follow/follow.ts';
import { openNodeSource } from '#indexer/source/node-source.ts';
import type { FollowerStatus } from '#kernel/contracts/follower-status.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import { connectNode } from '#node/bitcoin-node.ts';
import { RegtestChain } from '#test/builders/regtest/regtest-chain.ts';
import { dumpChain, pinFingerprintKey } from '#test/support/chain/chain-dump.ts';
import { GoldenChain } from '#test/support/chain/golden/golden-chain.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { type Bitcoind, startBitcoind } from '#test/support/node/bitcoind.ts';
import { bitcoindForTests } from '#test/support/node/find-bitcoind.ts';
import { feedGoldenChain } from '#test/support/node/regtest-feed.ts';
import { parseThreads } from '#test/support/parse-threads.ts';
import { waitUntil } from '#test/support/wait-until.ts';

const hasBitcoind = bitcoindForTests() !== null;

interface Running {
  readonly statuses: FollowerStatus[];
  readonly undone: number[];
  /** Settles when the follower has reached the node's best block. */
  atTip(): Promise<void>;
  stop(): Promise<void>;
}

async function start(bitcoind: Bitcoind, { pool }: TestDatabase): Promise<Running> {
  const source = openNodeSource(await connectNode(bitcoind.settings));
  const controller = new AbortController();
  const statuses: FollowerStatus[] = [];
  const undone: number[] = [];
  let failure: { error: unknown } | null = null;
  const end = follow({
    source,
    pool,
    signal: controller.signal,
    threads: parseThreads(),
    onStatus: (status) => statuses.push(status),
    onUndo: (depth) => undone.push(depth),
    bounds: { pollMs: 500 },
  });
  end.catch((error: unknown) => {
    failure = { error };
  });
  return {
    statuses,
    undone,
    atTip: async () => {
      const best = await bitcoind.rpc.call<string>('getbestblockhash');
      await waitUntil(async () => {
        if (failure !== null) return true;
        const { rows } = await pool.query<{ tip_hash: Buffer | null }>('SELECT tip_hash FROM chain.state');
        return rows[0]?.tip_hash != null && displayHash(rows[0].tip_hash) === best;
      });
      if (failure !== null) throw failure.error;
    },
    stop: async () => {
      controller.abort();
      await end;
      await source.close();
    },
  };
}

describe.skipIf(!hasBitcoind)('a follower of a real node', () => {
  let bitcoind: Bitcoind;
  let chain: RegtestChain;
  let database: TestDatabase;
  let running: Running;
  const databases: TestDatabase[] = [];

  const freshDatabase = async (): Promise<TestDatabase> => {
    const made = await createTestDatabase();
    databases.push(made);
    await pinFingerprintKey(made.pool, 'regtest');
    return made;
  };

  /** Rows of a new index of the present chain. */
  async function cleanDump(): Promise<Record<string, string[]>> {
    const clean = await freshDatabase();
    const other = await start(bitcoind, clean);
    await other.atTip();
    await other.stop();
    return dumpChain(clean.pool);
  }

  async function mineReveals(blocks: number): Promise<void> {
    for (let block = 0; block < blocks; block++) {
      const { transactions } = await chain.inscribe([
        { contentType: 'text/plain', body: `block ${block} on ${await chain.height()}` },
        { contentType: 'text/plain', body: 'always the same' },
      ]);
      await chain.mine(transactions);
    }
  }

  beforeAll(async () => {
    bitcoind = await startBitcoind();
    chain = await RegtestChain.start(bitcoind.rpc, 220);
    await mineReveals(3);
    database = await freshDatabase();
    running = await start(bitcoind, database);
    await running.atTip();
  });
  afterAll(async () => {
    await running.stop();
    for (const made of databases) await made.drop();
    await bitcoind.remove();
  });
  afterEach(async () => {
    // the bulk load and all later steps give the rows of a clean index
    await running.atTip();
    expect(await dumpChain(database.pool)).toEqual(await cleanDump());
  });

  test('has every block that is mined', async () => {
    running.undone.length = 0;
    await mineReveals(2);
    await running.atTip();
    expect(running.undone).toEqual([]);
  });

  test.each([1, 12, 40])('changes to another branch, %i blocks deep', async (depth) => {
    await mineReveals(depth);
    await running.atTip();
    running.undone.length = 0;
    await chain.takeBack(depth);
    await mineReveals(1);
    await chain.mineEmpty(depth);
    await running.atTip();
    // the blocks were undone at once, or in two steps if the node had taken them back before it advanced
    expect(running.undone.reduce((sum, blocks) => sum + blocks, 0)).toBeGreaterThanOrEqual(depth);
  });

  test('goes back if the node calls its tip invalid and has no other block there', async () => {
    await mineReveals(1);
    await running.atTip();
    const best = await bitcoind.rpc.call<string>('getbestblockhash');
    await bitcoind.rpc.call('invalidateblock', [best]);
    await running.atTip();
    await bitcoind.rpc.call('reconsiderblock', [best]);
    await running.atTip();
  });

  test('waits for a stopped node, and continues once it is back', async () => {
    await bitcoind.stop();
    await waitUntil(() => running.statuses.at(-1)?.state === 'waiting');
    expect(running.statuses.at(-1)?.problem?.code).toMatch(/^node_(?:unreachable|warming_up)$/u);
    await bitcoind.start();
    await mineReveals(1);
    await running.atTip();
    await waitUntil(() => running.statuses.at(-1)?.state === 'following');
    expect(running.statuses.at(-1)?.problem).toBeNull();
  });

  test('continues after all connections to the database were ended', async () => {
    await mineReveals(1);
    await database.pool.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE datname = current_database() AND usename = current_user AND pid <> pg_backend_pid()`,
    );
    await mineReveals(1);
    await running.atTip();
  });
});

describe.skipIf(!hasBitcoind)('a follower of a node that is fed with golden blocks', () => {
  test('has the rows of the folder, after the node went through its stale branches', async () => {
    const golden = new GoldenChain('reorg-1');
    const bitcoind = await startBitcoind();
    const database = await createTestDatabase();
    await pinFingerprintKey(database.pool, 'regtest');
    const running = await start(bitcoind, database);
    await feedGoldenChain(bitcoind.rpc, golden);
    await running.atTip();
    await running.stop();
    const clean = await createTestDatabase();
    await pinFingerprintKey(clean.pool, 'regtest');
    const other = await start(bitcoind, clean);
    await other.atTip();
    await other.stop();
    expect(await bitcoind.rpc.call('getbestblockhash')).toBe(golden.chain.tip);
    expect(await dumpChain(database.pool)).toEqual(await dumpChain(clean.pool));
    await database.drop();
    await clean.drop();
    await bitcoind.remove();
  });
});
