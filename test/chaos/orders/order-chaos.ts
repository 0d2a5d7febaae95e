import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { migrate } from '#kernel/pg/migrate.ts';
import {
  deskFailpoints,
  etchingFailpoints,
  itemFailpoints,
  orderFailpoints,
  parentFailpoints,
  paymentFailpoints,
  payoutFailpoints,
  webhookFailpoints,
} from '#kernel/process/failpoint.ts';
import { freePort } from '#kernel/process/free-port.ts';
import { maturityBlocks } from '#kernel/runes/rune.ts';
import { type Random, seededRandom, shuffled } from '#test/builders/random.ts';
import { RegtestChain } from '#test/builders/regtest/regtest-chain.ts';
import { ChaosDatabase } from '#test/chaos/processes/chaos-database.ts';
import { hitsOf, killAtPoints, killsOf } from '#test/chaos/processes/kill-at-points.ts';
import { Supervisor } from '#test/chaos/processes/supervisor.ts';
import { type Bitcoind, startBitcoind } from '#test/support/node/bitcoind.ts';
import { fillStock } from '#test/support/orders/fill-stock.ts';
import { makeTestWallet } from '#test/support/orders/test-wallet.ts';
import { type Receiver, startReceiver } from '#test/support/webhooks/receiver.ts';
import { PublicWallet } from '#wallet/public-wallet.ts';
import { Customers } from './customers.ts';
import { openSales, sales } from './item-sale.ts';
import { ItemWatch } from './item-watch.ts';
import { etchMintedRunes, type MintedRune, mintByStranger } from './minted-runes.ts';
import { NameRivals } from './name-rivals.ts';
import { NodeDoor } from './node-door.ts';
import { type OrderFault, type OrderFaultParts, orderFaultNames, orderFaults } from './order-faults.ts';
import { orderKinds } from './order-wishes.ts';
import { inscribeParents } from './parents.ts';
import { askForPayouts, payoutConfirmations, registerPartners } from './partners.ts';
import { Purse } from './purse.ts';
import { type RunEnd, verdictOfRun } from './run-verdict.ts';
import { Shop } from './shop.ts';

export interface OrderChaosOptions {
  readonly seed: string;
  /** Minimum duration of the faults, in minutes. They also continue until each failpoint was hit. */
  readonly minutes: number;
  /** The folder of all logs, and of the data of node and database. */
  readonly folder: string;
  readonly bitcoind: string;
  readonly say: (line: string) => void;
}

/** The results of a run. */
export interface OrderChaosResult extends RunEnd {
  readonly seed: string;
  readonly payments: number;
  /** Number of outputs that a stranger sent to orders. */
  readonly dust: number;
  readonly replaced: number;
  readonly kills: number;
  readonly reorgs: number;
  /** Number of refused orders of items. Others had these items, or half of the remaining items. */
  readonly refused: number;
  /** Number of checks of the collections' sales during the run. */
  readonly looks: number;
  /** Number of times that the database was cut while the node had a transaction, but the service did not know this. */
  readonly cuts: number;
  readonly hits: Readonly<Record<string, number>>;
  /** The last line of the output. */
  readonly verdict: string;
}

const database = 'orders';
/**
 * Time in ms after which the service has noticed changes. A payment that is in no mempool is gone after two seconds.
 */
const noticedMs = 3000;
const startBlocks = 260;
/** Number of outputs of the inventory. As many orders can each have one. */
const stockedOutputs = 120;
/** Number of orders of a run that can have a parent. */
const lentParents = 30;
/** Age at which an expired order no longer keeps its items. */
const itemsFreeAfter = '3 minutes';
const reorgDepths = [1, 1, 1, 2, 3, 5, 12];

/** Failpoints of processes that answer requests. `makerAims` are the failpoints of processes that process orders. */
const shopAims = [
  ...deskFailpoints,
  'order-reserved' as const,
  'items-held' as const,
  ...webhookFailpoints,
  // all payment failpoints except `payments-scan`, which needs a scan of old blocks
  ...paymentFailpoints.filter((name) => name !== 'payments-scan'),
];
const makerAims = [
  ...orderFailpoints,
  ...etchingFailpoints,
  ...parentFailpoints,
  'order-restocked' as const,
  ...itemFailpoints.filter((name) => name !== 'items-held'),
  // all payout failpoints except `payout-asked`, because the run itself requests payouts
  ...payoutFailpoints.filter((name) => name !== 'payout-asked'),
];
type Aim = (typeof shopAims)[number] | (typeof makerAims)[number];

/**
 * Runs random customers against a service that is killed, cut off and reorganised at any moment. At the end, the money
 * of each order is followed on the chain.
 */
export async function runOrderChaos(options: OrderChaosOptions): Promise<OrderChaosResult> {
  mkdirSync(options.folder, { recursive: true, mode: 0o755 });
  const run = new OrderChaos(options);
  try {
    await run.start();
    await run.rounds();
    return await run.end();
  } finally {
    await run.close();
  }
}

interface Parts extends OrderFaultParts {
  readonly chain: RegtestChain;
  readonly customers: Customers;
  readonly rivals: NameRivals;
  readonly runes: readonly MintedRune[];
  readonly purse: Purse;
  readonly receiver: Receiver;
}

class OrderChaos {
  readonly #options: OrderChaosOptions;
  readonly #random: Random;
  readonly #startedAt = Date.now();
  #database: ChaosDatabase | null = null;
  #node: Bitcoind | null = null;
  #door: NodeDoor | null = null;
  #receiver: Receiver | null = null;
  readonly #supervisors: Supervisor[] = [];
  #parts: Parts | null = null;
  #watch: ItemWatch | null = null;
  #reorgs = 0;

  readonly #deliverAndPayOut = (): Promise<void> => this.#payOutDelivered();
  readonly #buyStock = (): Promise<void> => this.#running().customers.buyStock();
  readonly #buyItems = (): Promise<void> => this.#running().customers.buyItems(true);
  readonly #passes: Readonly<Partial<Record<Aim, () => Promise<unknown>>>> = {
    'order-cancel': () => this.#running().customers.cancel(),
    'order-reserved': this.#buyStock,
    'order-restocked': this.#buyStock,
    'items-held': this.#buyItems,
    'items-decided': this.#buyItems,
    'items-released': () => this.#running().customers.buyItems(false),
    'order-return': () => this.#lendInVain(),
    'etchings-released': () => this.#etch(),
    'payments-gone': () => this.#forget(),
    'payments-undo': () => this.#reorganise(),
  };

  constructor(options: OrderChaosOptions) {
    this.#options = options;
    this.#random = seededRandom(`orders ${options.seed}`);
  }

  async start(): Promise<void> {
    const { folder, seed, bitcoind } = this.#options;
    this.#database = await ChaosDatabase.start(join(folder, 'database'));
    await this.#database.create(database);
    await migrate(this.#database.directUrl(database));
    // the node's mempool is empty after each start
    this.#node = await startBitcoind({
      executable: bitcoind,
      dataDir: join(folder, 'node'),
      extra: ['-persistmempool=0'],
    });
    const chain = await RegtestChain.start(this.#node.rpc, startBlocks);
    this.#door = await NodeDoor.open(this.#node.rpcUrl);
    this.#receiver = await startReceiver();
    const pool = this.#database.pool(database);
    const wallet = new PublicWallet(await makeTestWallet(pool, join(folder, 'seed')));
    const { script: inventory } = wallet.inventoryAddress(0);
    await fillStock(pool, chain, inventory, stockedOutputs);
    await openSales(pool, join(folder, 'files'));
    await pool.end();
    const parents = await inscribeParents(chain, lentParents);
    const runes = await etchMintedRunes(chain);
    // this also buries the stock, the parents and the runes
    const purse = await Purse.fill(chain);
    const port = await freePort();
    const shop = this.#serve('shop', { ROLE: 'all', PORT: String(port) });
    const seedFile = { ROLE: 'orders', WALLET_SEED_FILE: join(folder, 'seed'), PORT: '0' };
    const makers = [this.#serve('first', seedFile), this.#serve('second', seedFile)];
    const desk = new Shop(`http://127.0.0.1:${port}`);
    await registerPartners(desk);
    const open = () => this.#database!.pool(database);
    this.#watch = new ItemWatch(sales, open, (fault) => this.#say(fault));
    this.#parts = {
      random: this.#random,
      node: this.#node,
      database: this.#database,
      name: database,
      door: this.#door,
      shop,
      makers,
      chain,
      receiver: this.#receiver,
      rivals: new NameRivals(this.#random, chain, purse),
      customers: new Customers({
        random: this.#random,
        rpc: this.#node.rpc,
        purse,
        shop: desk,
        webhookUrl: `http://127.0.0.1:${this.#receiver.port}`,
        seed,
        inventory,
        parents,
        runes,
      }),
      runes,
      purse,
    };
  }

  /**
   * Runs rounds of customers, blocks and faults. First, each failpoint and each fault has a round, in random order.
   * Then all rounds are random.
   */
  async rounds(): Promise<void> {
    const until = this.#startedAt + this.#options.minutes * 60_000;
    const aims = this.#pairedAims();
    const faults: OrderFault[] = shuffled(this.#random, orderFaultNames);
    for (let round = 0; aims.length + faults.length > 0 || Date.now() < until; round++) {
      const isAimed = this.#random.unit() * (aims.length + faults.length) < aims.length;
      const aim = isAimed ? aims.pop() : undefined;
      if (aim === undefined) await this.#faultRound(round, faults.pop() ?? this.#anyFault());
      else await this.#aimedRound(round, aim);
      if (aims.length === 0 && Date.now() < until && this.#random.unit() < 0.3)
        aims.push(...this.#pairedAims());
      await this.#watch!.audit();
      this.#progress(round);
    }
  }

  /**
   * Pairs of failpoints: one of a process that answers requests, and one of a process that processes orders. If there
   * are no more failpoints of one kind, pairs have only the other kind.
   */
  #pairedAims(): (readonly (Aim | undefined)[])[] {
    const [shops, makers] = [shuffled(this.#random, shopAims), shuffled(this.#random, makerAims)];
    const rounds = Math.max(shops.length, makers.length);
    return Array.from({ length: rounds }, (_, place) => [shops[place], makers[place]]);
  }

  #anyFault(): OrderFault {
    return orderFaultNames[this.#random.below(orderFaultNames.length)]!;
  }

  async end(): Promise<OrderChaosResult> {
    const { customers, chain, receiver } = this.#running();
    const pool = this.#database!.pool(database);
    const watch = this.#watch!;
    try {
      const end = await verdictOfRun({ pool, chain, customers, receiver, say: (words) => this.#say(words) });
      const made = new Set(customers.all.map(({ kind }) => kind));
      const missed = [...shopAims, ...makerAims].filter((name) => this.#hits(name) === 0);
      const differences = [
        ...end.differences,
        ...watch.faults,
        ...(watch.looks === 0 ? ['the sales of collections were never looked at'] : []),
        ...orderKinds
          .filter((kind) => !made.has(kind))
          .map((kind) => `no order of the kind ${kind} was made`),
        ...missed.map((name) => `the failpoint ${name} was never hit`),
        ...(this.#door!.acted === 0 ? ['the database was never cut after a broadcast'] : []),
        ...this.#supervisors.flatMap(({ exits }) => exits.map((words) => `process: ${words}`)),
      ];
      const hits = Object.fromEntries([...shopAims, ...makerAims].map((name) => [name, this.#hits(name)]));
      const counts = {
        payments: customers.payments,
        dust: customers.dust,
        replaced: customers.replaced,
        refused: customers.refusedItems,
        looks: watch.looks,
        kills: this.#kills(),
        reorgs: this.#reorgs,
        cuts: this.#door!.acted,
      };
      const { seed } = this.#options;
      const points = Object.entries(hits).map(([name, times]) => `${name}:${times}`);
      const verdict = `chaos: ${differences.length} differences; orders=${end.orders}, payments=${counts.payments}, dust=${counts.dust}, delivered=${end.delivered}, refunded=${end.refunded}, sold=${end.sold.join('+')} items, refused=${counts.refused}, looks=${counts.looks}, replaced=${counts.replaced}, cuts=${counts.cuts}, kills=${counts.kills}, reorgs=${counts.reorgs}, lost=${end.lost} sats, failpoints=${points.join(',')}, seed=${seed}`;
      for (const line of differences.slice(0, 40)) this.#say(line);
      return { ...end, ...counts, differences, hits, seed, verdict };
    } finally {
      await pool.end();
    }
  }

  async close(): Promise<void> {
    await this.#watch?.stop();
    await Promise.all(this.#supervisors.map((each) => each.stop()));
    await this.#receiver?.close();
    await this.#door?.close();
    await this.#node?.stop();
    await this.#database?.stop();
  }

  #serve(name: string, env: Readonly<Record<string, string>>): Supervisor {
    const { folder } = this.#options;
    const supervisor = new Supervisor({
      name,
      folder,
      env: {
        HOST: '127.0.0.1',
        LOG_LEVEL: 'info',
        ...this.#database!.proxiedSettings(database),
        BITCOIN_RPC_URL: this.#door!.url,
        BITCOIN_COOKIE_FILE: this.#node!.cookieFile,
        FILES_DIR: join(folder, 'files'),
        SERVICE_SECRET_FILE: join(folder, 'secret'),
        ORDER_RATE: '0',
        // shows the sat of each inscription
        INDEX_SATS: 'true',
        // proves which coins of the service may pay for returns
        INDEX_RUNES: 'true',
        PAYOUT_CONFIRMATIONS: String(payoutConfirmations),
        // all customers have one IP address
        ORDER_RESERVED_MAX: '2000',
        COLLECTION_UNPAID_MAX: '1000',
        COLLECTION_UNPAID_NETWORK_MAX: '100000',
        // the receiver of webhooks is on this machine
        ALLOW_PRIVATE_URLS: 'true',
        ...env,
      },
    });
    this.#supervisors.push(supervisor);
    return supervisor;
  }

  async #faultRound(round: number, fault: OrderFault): Promise<void> {
    this.#say(`round ${round}: ${fault}`);
    const parts = this.#running();
    if (fault === 'node-forgets') {
      await this.#live();
      await orderFaults[fault](parts);
      await parts.customers.sendAgain(0.8);
    } else await Promise.all([this.#live(), orderFaults[fault](parts)]);
    await this.#live();
  }

  /** Repeats until both failpoints were hit: arms the processes, and lets customers pass the failpoints. */
  async #aimedRound(round: number, [shopAim, makerAim]: readonly (Aim | undefined)[]): Promise<void> {
    const { shop, makers } = this.#running();
    const aims = [
      ...(shopAim === undefined ? [] : [{ name: shopAim, processes: [shop] }]),
      ...(makerAim === undefined ? [] : [{ name: makerAim, processes: makers }]),
    ];
    this.#say(`round ${round}: aimed at ${aims.map(({ name }) => name).join(' and ')}`);
    await killAtPoints(aims, this.#random, (open) => this.#live(open));
  }

  /** Performs some actions of customers and miners, and actions that pass the given failpoints. */
  async #live(aims: readonly Aim[] = []): Promise<void> {
    const random = this.#random;
    const { customers, rivals, runes, purse, chain } = this.#running();
    for (let made = 1 + random.below(3); made > 0; made--) {
      const customer = await customers.order();
      await customers.pay(customer);
    }
    const acts: (() => Promise<unknown>)[] = [
      () => customers.payAgain(),
      () => customers.topUp(),
      () => customers.topUp(),
      () => customers.sendDust(),
      () => customers.sendDust(),
      () => customers.replace(),
      () => customers.regret(),
      () => customers.cancel(),
      () => rivals.claim(customers),
      () => rivals.etch(),
      () => mintByStranger(this.#random, chain, purse, runes),
      () => this.#payOut(),
      () => this.#timeOver(),
      () => this.#mine(),
      () => this.#mine(),
      () => this.#reorganise(),
    ];
    for (let done = 1 + random.below(4); done > 0; done--) await acts[random.below(acts.length)]?.();
    for (const act of new Set(aims.map((aim) => this.#passing(aim)))) await act?.();
    await this.#mine();
    await delay(random.below(1500));
  }

  /**
   * An action that makes customers pass a failpoint that they may not pass by chance. `undefined` if they always pass
   * it.
   */
  #passing(aim: Aim): (() => Promise<unknown>) | undefined {
    return aim.startsWith('payout-') ? this.#deliverAndPayOut : this.#passes[aim];
  }

  async #mine(): Promise<void> {
    const { chain } = this.#running();
    for (let blocks = 1 + this.#random.below(3); blocks > 0; blocks--) {
      await chain.mineMempool();
      await delay(this.#random.below(400));
    }
  }

  async #reorganise(): Promise<void> {
    const { chain, customers } = this.#running();
    const depth = reorgDepths[this.#random.below(reorgDepths.length)]!;
    this.#reorgs++;
    await chain.takeBack(depth);
    // someone may spend the coin in another way before the payment is mined again
    if (this.#random.unit() < 0.4) await customers.replace();
    const blocks = depth + this.#random.below(3);
    if (this.#random.unit() < 0.5) await chain.mineEmpty(blocks + 1);
    else for (let mined = 0; mined <= blocks; mined++) await chain.mineMempool();
    await customers.sendAgain(0.5);
  }

  /** Makes the node forget a payment that was seen. No one sends the payment again for a while. */
  async #forget(): Promise<void> {
    const parts = this.#running();
    await parts.customers.pay(await parts.customers.order());
    await delay(noticedMs);
    await orderFaults['node-forgets'](parts);
    await delay(noticedMs);
  }

  /** Requests payouts of everything that is deep enough. */
  async #payOut(): Promise<void> {
    const pool = this.#database!.pool(database);
    try {
      await askForPayouts(pool, this.#random.unit() < 0.3);
    } finally {
      await pool.end();
    }
  }

  /** Buries all deliveries so far, and pays partners their shares of these deliveries. */
  async #payOutDelivered(): Promise<void> {
    const { customers, chain } = this.#running();
    await customers.payExactly();
    await this.#mine();
    await chain.mineEmpty(payoutConfirmations);
    await delay(noticedMs);
    await this.#payOut();
    // wait until the payout is signed and sent, so that the next block contains it
    await delay(noticedMs);
  }

  /** Pays an etching, and makes its commit deep enough for its reveal. */
  async #etch(): Promise<void> {
    const { customers, chain } = this.#running();
    await customers.payExactly('etching');
    await chain.mineMempool();
    await delay(noticedMs);
    await chain.mineMempool();
    await chain.mineEmpty(maturityBlocks);
    await delay(noticedMs);
  }

  /** Sends a parent to an order that is never paid. After the order's time has ended, the parent is returned. */
  async #lendInVain(): Promise<void> {
    const { customers } = this.#running();
    const { id } = await customers.lendInVain();
    await this.#mine();
    await this.#database!.query(
      database,
      `UPDATE service.orders SET expires_at = now(), look_at = now() WHERE id = '${id}'`,
    ).catch(() => undefined);
  }

  /** Ends the time of an unpaid order. If the order has items, the end may be so long ago that the items are free. */
  async #timeOver(): Promise<void> {
    const over = this.#random.unit() < 0.5 ? itemsFreeAfter : '0';
    await this.#database!.query(
      database,
      `UPDATE service.orders SET look_at = now(), expires_at = now() -
          CASE WHEN request ? 'collection' THEN interval '${over}' ELSE interval '0' END WHERE id = (
         SELECT id FROM service.orders WHERE state IN ('waiting-payment', 'waiting-parent') ORDER BY created_at DESC OFFSET ${this.#random.below(4)} LIMIT 1)`,
    ).catch(() => undefined);
  }

  #progress(round: number): void {
    const { customers } = this.#running();
    this.#say(
      `after round ${round}: ${customers.all.length} orders, ${customers.payments} payments, ${this.#kills()} kills, ${this.#reorgs} reorganisations`,
    );
  }

  #running(): Parts {
    if (this.#parts === null) throw new Error('the run has not started');
    return this.#parts;
  }

  #hits(name: Aim): number {
    return hitsOf(this.#supervisors, name);
  }

  #kills(): number {
    return killsOf(this.#supervisors);
  }

  #say(words: string): void {
    const seconds = ((Date.now() - this.#startedAt) / 1000).toFixed(0).padStart(4);
    this.#options.say(`${seconds} s  ${words}`);
  }
}
