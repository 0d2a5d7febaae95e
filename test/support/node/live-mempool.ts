import type { App } from '#http/server/routes/app-dependencies.ts';
import { follow } from '#indexer/follow/follow.ts';
import type { FollowOptions } from '#indexer/follow/follow-options.ts';
import { type FollowMempoolOptions, followMempool } from '#indexer/mempool/follow/follow-mempool.ts';
import { openNodeSource } from '#indexer/source/node-source.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import { networks } from '#kernel/primitives/network.ts';
import { type BitcoinNode, connectNode } from '#node/bitcoin-node.ts';
import { RegtestChain } from '#test/builders/regtest/regtest-chain.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { buildCheckedApp } from '#test/support/http/checked-app.ts';
import { readerParts } from '#test/support/http/reader-parts.ts';
import { silentLogger } from '#test/support/http-app.ts';
import { parseThreads } from '#test/support/parse-threads.ts';
import { waitUntil } from '#test/support/wait-until.ts';
import { type Bitcoind, type BitcoindOptions, startBitcoind } from './bitcoind.ts';

/** A running follower of the mempool. */
export interface MempoolRun {
  readonly controller: AbortController;
  readonly end: Promise<void>;
}

/** A real node whose chain is indexed and whose mempool is followed as by `serve`, with the HTTP side on top. */
export class LiveMempool {
  readonly bitcoind: Bitcoind;
  readonly chain: RegtestChain;
  readonly database: TestDatabase;
  readonly app: App;
  readonly node: BitcoinNode;
  #followers: { controller: AbortController; ends: Promise<unknown>[] } | null = null;
  #mempool: MempoolRun | null = null;

  private constructor(
    bitcoind: Bitcoind,
    chain: RegtestChain,
    database: TestDatabase,
    app: App,
    node: BitcoinNode,
  ) {
    this.bitcoind = bitcoind;
    this.chain = chain;
    this.database = database;
    this.app = app;
    this.node = node;
  }

  static async start(options: BitcoindOptions = {}): Promise<LiveMempool> {
    const bitcoind = await startBitcoind(options);
    const chain = await RegtestChain.start(bitcoind.rpc, 130);
    const database = await createTestDatabase();
    const { readers } = database;
    const app = buildCheckedApp(readerParts(readers));
    await app.ready();
    const node = await connectNode(bitcoind.settings);
    return new LiveMempool(bitcoind, chain, database, app, node);
  }

  /** Follows the blocks. */
  index(options: Pick<FollowOptions, 'indexSales' | 'indexAddresses'> = {}): void {
    const controller = new AbortController();
    const source = openNodeSource(this.node);
    const { pool } = this.database;
    const end = follow({
      source,
      pool,
      signal: controller.signal,
      threads: parseThreads(),
      bounds: { pollMs: 200 },
      ...options,
    });
    this.#followers = { controller, ends: [end.catch(() => undefined)] };
  }

  /** Settles when the node's best block is indexed. */
  async indexed(): Promise<void> {
    const hash = await this.bitcoind.rpc.call<string>('getbestblockhash');
    await this.eventually(async () => {
      const { rows } = await this.database.pool.query<{ hash: Buffer }>(
        'SELECT tip_hash AS hash FROM chain.state WHERE tip_hash IS NOT NULL',
      );
      if (rows[0] === undefined || displayHash(rows[0].hash) !== hash) throw new Error('not indexed yet');
    });
  }

  async stopIndexing(): Promise<void> {
    this.#followers?.controller.abort();
    await Promise.all(this.#followers?.ends ?? []);
    this.#followers = null;
  }

  /** Follows the mempool. A second call does not stop the earlier follower, whose caller can still stop it. */
  follow(options: Partial<FollowMempoolOptions> = {}): MempoolRun {
    const controller = new AbortController();
    const end = followMempool({
      node: this.node,
      pool: this.database.pool,
      network: networks.regtest,
      signal: controller.signal,
      log: silentLogger(),
      // short, so that tests soon see what only the written state shows
      bounds: { stateEveryMs: 1000 },
      ...options,
    });
    this.#mempool = { controller, end };
    return this.#mempool;
  }

  async stopFollowing(): Promise<void> {
    this.#mempool?.controller.abort();
    await this.#mempool?.end;
    this.#mempool = null;
  }

  async get<Answer>(url: string): Promise<Answer> {
    const response = await this.app.inject({ method: 'GET', url });
    return response.json();
  }

  /** Repeats a check until it passes. Throws the last failure after 20 s. */
  async eventually(check: () => Promise<void>): Promise<void> {
    await waitUntil(check, { limitMs: 20_000, everyMs: 50 });
  }

  async close(): Promise<void> {
    await this.stopFollowing();
    await this.stopIndexing();
    await this.app.close();
    await this.node.close();
    await this.bitcoind.remove();
    await this.database.drop();
  }
}
