import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Logger, pino } from 'pino';
import { follow } from '#indexer/follow/follow.ts';
import type { FollowOptions } from '#indexer/follow/follow-options.ts';
import { openNodeSource } from '#indexer/source/node-source.ts';
import { restock } from '#inventory/restock.ts';
import type { TransactionPlan } from '#kernel/contracts/transaction-plan.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import { genesisHeight } from '#kernel/primitives/height.ts';
import { networks } from '#kernel/primitives/network.ts';
import { addSoldItems, removeSoldItems } from '#market/collections/sold-collection.store.ts';
import { type BitcoinNode, connectNode } from '#node/bitcoin-node.ts';
import { auditCollections, type CollectionDifference } from '#orders/audit/audit-collections.ts';
import { type Audit, auditOrders } from '#orders/audit/audit-orders.ts';
import type { BumpPolicy } from '#orders/bumping/bump-round.ts';
import { orderKeys } from '#orders/creating/order-keys.ts';
import { CustomerOrders } from '#orders/customers/customer-orders.ts';
import { CustomerFiles } from '#orders/files/customer-files.ts';
import { type FollowOrdersOptions, followOrders } from '#orders/following/follow-orders.ts';
import { orderSteps } from '#orders/following/order-steps.ts';
import { ReturnCoins } from '#orders/funds/return-coins.ts';
import { LockTimes } from '#orders/grinding/lock-times.ts';
import { orderSigner } from '#orders/making/order-signer.ts';
import { handPackages } from '#orders/mining/hand-packages.ts';
import type { Miner } from '#orders/mining/miner.ts';
import type { OrderTransactionKind } from '#orders/order/order-transactions.store.ts';
import { wakeOrder } from '#orders/order/order-wishes.store.ts';
import { ArrivedSats } from '#orders/sats/arrived-sats.ts';
import type { NodeStanding } from '#orders/sending/node-standing.ts';
import { NodeWatch } from '#orders/sending/node-watch.ts';
import { OutgoingHttp } from '#outgoing/outgoing-http.ts';
import { followPayments } from '#payments/follow/follow-payments.ts';
import { paymentsTipHash } from '#payments/store/offset.store.ts';
import { auditPayouts, type PayoutDifference } from '#payouts/audit/audit-payouts.ts';
import { PayoutRounds } from '#payouts/following/follow-payouts.ts';
import { reservedSats } from '#payouts/owed/reserved-sats.queries.ts';
import { NodeTraceSource } from '#sat-ranges/node-trace-source.ts';
import { SatTracer } from '#sat-ranges/sat-tracer.ts';
import { proveFree } from '#src/app/ordering/bump-parts.ts';
import { RegtestChain } from '#test/builders/regtest/regtest-chain.ts';
import { transaction } from '#test/builders/regtest/regtest-transaction.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { type Bitcoind, type BitcoindOptions, startBitcoind } from '#test/support/node/bitcoind.ts';
import { parseThreads } from '#test/support/parse-threads.ts';
import { regtestSatributes } from '#test/support/regtest-satributes.ts';
import { waitUntil } from '#test/support/wait-until.ts';
import { plainInputs } from '#test/support/wallet/plans.ts';
import { signedElsewhere } from '#test/support/wallet/signed-elsewhere.ts';
import { IndexLeases } from '#wallet/indices/index-leases.ts';
import { PublicWallet } from '#wallet/public-wallet.ts';
import { openSigner, type SignedTransaction } from '#wallet/signer.ts';
import { accountBatches } from '#withdrawals/account-batches.ts';
import type { BatchPolicy } from '#withdrawals/batch-policy.ts';
import { expectSameFreeCoins } from './revenue-coins.ts';
import { testMiner } from './stand-in-miner.ts';
import { makeTestWallet, releaseTestWallet } from './test-wallet.ts';

/** How long three processes may take to start on a busy machine, in ms. */
const settledMaxMs = 60_000;

const allKinds: readonly OrderTransactionKind[] = ['commit', 'reveal', 'burn', 'return', 'refund'];

/** A real node with its indexed chain, and customers' orders. Payments and orders are followed as by `serve`. */
export class OrderWorld {
  readonly bitcoind: Bitcoind;
  readonly chain: RegtestChain;
  readonly database: TestDatabase;
  readonly customerOrders: CustomerOrders;
  readonly wallet: PublicWallet;
  /** Logged warnings and errors of the work that `follow` started. */
  readonly logged: string[] = [];
  /** Policy for stuck transactions. A change takes effect with the next `follow`. */
  bumps: BumpPolicy = {
    maxSats: 20_000n,
    dayMaxSats: 1_000_000n,
    revenuePercent: 100n,
    afterMs: 3_600_000,
  };
  /** Maximum costs of returns, in sats. A change of the daily maximum takes effect in the next round. */
  readonly returns: { maxSats: bigint; dayMaxSats: bigint } = { maxSats: 5_000n, dayMaxSats: 50_000n };
  /** PAYOUT_CONFIRMATIONS. A change takes effect with the next `follow`. */
  payoutConfirmations = 3;
  withdrawals: BatchPolicy = {
    inputsMax: 100,
    bumpMax: 20_000n,
    debtMax: 10_000n,
    consolidation: { dayMax: 0n, feeRateMax: 2_000n },
  };
  /**
   * Fee rate that replaces the node's estimate; `null` to use the estimate. A change takes effect in the next round.
   */
  estimate: bigint | null = null;
  readonly told: { id: string; state: string }[] = [];
  readonly miner: Miner | null;
  readonly #dir: string;
  readonly #index: Partial<FollowOptions>;
  #endReleases: () => Promise<void>;
  #running: { controller: AbortController; close: () => Promise<void>; ends: Promise<unknown>[] } | null =
    null;

  private constructor(
    parts: Pick<OrderWorld, 'bitcoind' | 'chain' | 'database' | 'wallet'> & {
      dir: string;
      index: Partial<FollowOptions>;
      endReleases: () => Promise<void>;
      minerUrl: string | null;
    },
  ) {
    this.miner = parts.minerUrl === null ? null : testMiner(parts.minerUrl);
    this.#endReleases = parts.endReleases;
    this.#index = parts.index;
    this.bitcoind = parts.bitcoind;
    this.chain = parts.chain;
    this.database = parts.database;
    this.wallet = parts.wallet;
    this.#dir = parts.dir;
    const keys = orderKeys(parts.wallet, new IndexLeases(parts.database.accessPool));
    this.customerOrders = new CustomerOrders({
      pool: parts.database.accessPool,
      keys: async () => keys,
      files: new CustomerFiles(join(parts.dir, 'files')),
      isSignerThere: async () => true,
      reservedMost: 3,
      holdBounds: { client: 10, network: 50 },
      persons: null,
      outgoing: new OutgoingHttp({ allowPrivate: true }),
      miner: this.miner,
      allowPrivateUrls: true,
      timeoutMinutes: 60,
      publicOrigin: null,
      bytesADay: null,
      uploadBytesADay: null,
    });
  }

  /**
   * @param blocks number of blocks to mine; all except the last hundred have coins for the tests
   * @param minerUrl the miner that accepts reveals above the standard weight; `null` if there is none
   */
  static async start(
    options: BitcoindOptions = {},
    blocks = 130,
    index: Partial<FollowOptions> = {},
    minerUrl: string | null = null,
  ): Promise<OrderWorld> {
    const bitcoind = await startBitcoind(options);
    const chain = await RegtestChain.start(bitcoind.rpc, blocks);
    const database = await createTestDatabase();
    const dir = await mkdtemp(join(tmpdir(), 'satscribe-orders-'));
    const seedFile = join(dir, 'seed');
    const identity = await makeTestWallet(database.pool, seedFile);
    const world = new OrderWorld({
      bitcoind,
      chain,
      database,
      wallet: new PublicWallet(identity),
      dir,
      index,
      minerUrl,
      endReleases: await releaseTestWallet(database.url, seedFile, identity),
    });
    await world.follow();
    // orders are accepted only after a block is indexed
    await world.indexed();
    return world;
  }

  readonly #tell = async (_: unknown, { id, state }: { id: string; state: string }): Promise<void> => {
    this.told.push({ id, state });
  };

  /** Folder of the wallet and the files. */
  get dir(): string {
    return this.#dir;
  }

  get seedFile(): string {
    return join(this.#dir, 'seed');
  }

  /**
   * Starts to index, and to follow payments and orders.
   *
   * @param changed settings of the index that differ from those of the world's start
   */
  async follow(changed: Partial<FollowOptions> = {}): Promise<void> {
    const node: BitcoinNode = await connectNode(this.bitcoind.settings);
    const source = openNodeSource(node, { firstHeight: genesisHeight });
    const controller = new AbortController();
    const { signal } = controller;
    const { url, pool } = this.database;
    const log: Logger = pino({ level: 'warn' }, { write: (line: string) => void this.logged.push(line) });
    const signer = await openSigner(this.seedFile, this.wallet.identity);
    const policy = {
      confirmations: [{ from: 0n, confirmations: 1 }],
      finalConfirmations: 1,
    };
    const lockTimes = new LockTimes();
    const tracer = new SatTracer(new NodeTraceSource(node.rpc, source));
    const arrivedSats = new ArrivedSats((outpoint) => tracer.trace(outpoint));
    const returnCoins = new ReturnCoins();
    const watch = new NodeWatch(node.rpc, 6);
    const steps = orderSteps({
      network: networks.regtest,
      signer: orderSigner(this.wallet, signer),
      lockTimes,
      arrivedSats,
      satributes: regtestSatributes,
      watch,
      policy,
      returns: this.returns,
      minerHours: 24,
      coinFor: (orderId, sats) => returnCoins.take(orderId, sats),
      market: { add: addSoldItems, remove: removeSoldItems },
      restock: (tx, { spent, rests }) => restock(tx, regtestSatributes(), spent, rests),
      tell: this.#tell,
    });
    const bumps = {
      signer: orderSigner(this.wallet, signer),
      policy: this.bumps,
      proveFree: proveFree(pool),
      reserved: reservedSats,
    };
    this.#running = {
      controller,
      close: async () => {
        arrivedSats.close();
        await Promise.all([source.close(), lockTimes.close()]);
      },
      ends: [
        follow({
          source,
          pool,
          signal,
          threads: parseThreads(),
          bounds: { pollMs: 200 },
          ...this.#index,
          ...changed,
        }),
        followPayments({ url, source, node, signal, log }),
        followOrders({
          url,
          node: node.rpc,
          watch,
          steps,
          bumps,
          lockTimes,
          arrivedSats,
          releaseIndices: null,
          handPackages: this.#handPackages(log),
          returnCoins,
          beside: (client) => {
            const rounds = new PayoutRounds({
              client,
              node: node.rpc,
              signer: bumps.signer,
              proveFree: bumps.proveFree,
              confirmations: this.payoutConfirmations,
              withdrawals: accountBatches(this.withdrawals),
              bumpAfterMs: this.bumps.afterMs,
              log,
            });
            return { look: (standing, isAll) => rounds.look(this.#estimated(standing), isAll) };
          },
          signal,
          log,
        }),
      ],
    };
    for (const end of this.#running.ends) end.catch(() => undefined);
  }

  #estimated(standing: NodeStanding | null): NodeStanding | null {
    const { estimate } = this;
    return standing === null || estimate === null ? standing : { ...standing, estimate };
  }

  #handPackages(log: Logger): FollowOrdersOptions['handPackages'] {
    const { miner } = this;
    const { url } = this.database;
    if (miner === null) return null;
    return (signal) => handPackages({ url, miner, signal, log, firstPauseMs: 200 });
  }

  /** Stops the work that `follow` started. */
  async stop(): Promise<void> {
    this.#running?.controller.abort();
    await Promise.all(this.#running?.ends ?? []);
    await this.#running?.close();
    this.#running = null;
  }

  /** Makes an order due now. Without this, some orders are due only a minute after a block. */
  wake(id: string): Promise<void> {
    return wakeOrder(this.database.pool, id);
  }

  /** Resolves when the order is in a state. */
  async until(id: string, state: string): Promise<void> {
    await this.eventually(async () => {
      const found = await this.customerOrders.read(id);
      if (found?.order.state === state) return true;
      throw new Error(
        `order is ${found?.order.state}, not ${state}; ${JSON.stringify(found?.transactions.map(({ kind, refusal }) => ({ kind, refusal })))}\n${this.logged.join('')}`,
      );
    });
  }

  /** Resolves when the node has accepted all stored transactions of these kinds of the order. */
  async sent(id: string, kinds: readonly OrderTransactionKind[] = allKinds): Promise<void> {
    await this.eventually(async () => {
      const found = await this.customerOrders.read(id);
      const made = found?.transactions.filter(({ kind }) => kinds.includes(kind)) ?? [];
      if (made.length > 0 && made.every(({ sentAt }) => sentAt !== null)) return true;
      throw new Error(
        `of an order that is ${found?.order.state}, no ${kinds.join()} is sent: ${found?.order.error}\n${this.logged.join('')}`,
      );
    });
  }

  /** Mines the payments first, and then the reveals. */
  async deliver(id: string): Promise<void> {
    await this.chain.mineMempool();
    await this.until(id, 'queued');
    await this.sent(id);
    await this.chain.mineMempool();
    await this.until(id, 'completed');
  }

  /** Raises the node's estimate to about this rate, in sat/vB, with blocks of transactions that pay the rate. */
  async raiseFees(feeRate: number): Promise<void> {
    for (let block = 0; block < 16; block++) {
      const made = await this.chain.split(8, 1_000_000);
      await this.chain.mine([made]);
      const paying = Array.from({ length: 8 }, (_, vout) =>
        transaction([made.coin(vout)], [{ value: 1_000_000 - 111 * feeRate }]),
      );
      for (const each of paying) await this.chain.broadcast(each);
      await this.chain.mine(paying);
    }
    await this.indexed();
  }

  eventually<Result>(check: () => Promise<Result>): Promise<Exclude<Result, false>> {
    return waitUntil(check, { limitMs: settledMaxMs, everyMs: 100 });
  }

  /** Resolves when the index and payments have the node's best block. Depths of payments count from there. */
  async indexed(): Promise<void> {
    const best = await this.bitcoind.rpc.call<string>('getbestblockhash');
    await this.eventually(async () => {
      const { rows } = await this.database.pool.query<Record<'index' | 'payments', Buffer | null>>(
        `SELECT tip_hash AS index, ${paymentsTipHash} AS payments FROM chain.state`,
      );
      const [tips] = rows;
      return [tips?.index, tips?.payments].every((tip) => tip != null && displayHash(tip) === best);
    });
  }

  /** Signs with the seed, independently of the service. */
  async sign(plan: TransactionPlan): Promise<SignedTransaction> {
    return (await openSigner(this.seedFile, this.wallet.identity)).signPlan(plan, plainInputs(plan));
  }

  /** Signs like another wallet with the same seed words, without the service's rules. Returns hex. */
  signElsewhere(plan: TransactionPlan): Promise<string> {
    return signedElsewhere(this.seedFile, plan);
  }

  /**
   * Audits orders, payouts and collections, and returns the differences. Without differences, it it also checks that
   * coins are free as plans say.
   */
  async audit(looks?: number): Promise<
    Audit & {
      readonly payouts: readonly PayoutDifference[];
      readonly collections: readonly CollectionDifference[];
    }
  > {
    const parts = {
      database: this.database.pool,
      node: this.bitcoind.rpc,
      ...(looks === undefined ? {} : { looks }),
    };
    const audit = {
      ...(await auditOrders(parts)),
      payouts: await auditPayouts(parts),
      collections: await auditCollections(parts),
    };
    if (audit.differing === 0 && audit.funds.length === 0 && audit.payouts.length === 0)
      await expectSameFreeCoins(this.database.pool);
    return audit;
  }

  /** Ends the release of addresses until `release`. */
  endReleases(): Promise<void> {
    return this.#endReleases();
  }

  /** Releases addresses again, like a start of the process with the seed. */
  async release(): Promise<void> {
    this.#endReleases = await releaseTestWallet(this.database.url, this.seedFile, this.wallet.identity);
  }

  async close(): Promise<void> {
    await this.stop();
    await this.#endReleases();
    await this.bitcoind.remove();
    await this.database.drop();
    await rm(this.#dir, { recursive: true, force: true });
  }
}
