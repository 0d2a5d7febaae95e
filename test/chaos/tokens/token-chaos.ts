import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { migrate } from '#kernel/pg/migrate.ts';
import { freePort } from '#kernel/process/free-port.ts';
import { type Random, seededRandom, shuffled } from '#test/builders/random.ts';
import { RegtestChain } from '#test/builders/regtest/regtest-chain.ts';
import { ItemWatch } from '#test/chaos/orders/item-watch.ts';
import { type ServiceFault, serviceFaultNames, serviceFaults } from '#test/chaos/orders/order-faults.ts';
import { Purse } from '#test/chaos/orders/purse.ts';
import { Shop } from '#test/chaos/orders/shop.ts';
import { ChaosDatabase } from '#test/chaos/processes/chaos-database.ts';
import { hitsOf, killAtPoints, killsOf } from '#test/chaos/processes/kill-at-points.ts';
import { Supervisor } from '#test/chaos/processes/supervisor.ts';
import { giveKey } from '#test/support/http/search-access.ts';
import { type Bitcoind, startBitcoind } from '#test/support/node/bitcoind.ts';
import { makeTestWallet } from '#test/support/orders/test-wallet.ts';
import { type Receiver, startReceiver } from '#test/support/webhooks/receiver.ts';
import { endTime, passDay } from './passing-time.ts';
import { type PassDay, RuneBuyers } from './rune-buyers.ts';
import { RuneChain } from './rune-chain.ts';
import { RunePurse, type RunRune } from './rune-purse.ts';
import { openRuneSales } from './rune-sales.ts';
import { type Aim, buyersPass, makerAims, shopAims, takersPass } from './token-aims.ts';
import { depthsAfterCompletion, missingOf } from './token-coverage.ts';
import { type RunAccount, TokenCustomers } from './token-customers.ts';
import { TokenPayments } from './token-payments.ts';
import { scriptsOf, type TokenRunEnd, verdictOfTokenRun } from './token-run-verdict.ts';
import { tableOfRun, verdictLine } from './token-run-words.ts';
import { TokenTakers } from './token-takers.ts';
import { TokenWatch } from './token-watch.ts';

export interface TokenChaosOptions {
  readonly seed: string;
  /** Minimum duration of the faults, in minutes. They also continue until each failpoint was hit. */
  readonly minutes: number;
  /** The folder of all logs, and of the data of node and database. */
  readonly folder: string;
  readonly bitcoind: string;
  readonly say: (line: string) => void;
}

export interface TokenChaosResult extends TokenRunEnd {
  readonly seed: string;
  readonly orders: number;
  readonly payments: number;
  readonly kills: number;
  readonly reorgs: number;
  readonly looks: number;
  /** The last line of the output. */
  readonly verdict: string;
}

const database = 'tokens';
const startBlocks = 160;
const baseFee = 9_000;
const accountsCount = 3;
/**
 * Number of confirmations before a batch whose coins are gone is planned again. It is more than the depth of any
 * reorganisation of a run.
 */
const payoutConfirmations = 14;
const reorgDepths = [1, 1, 1, 2, 3, 5, 12];
const completedWithinMs = 60_000;
const completionTriesMax = 3;
const lookMs = 200;
/**
 * Maximum number of additional turns at the end. A short run has few withdrawals, so these turns add the missing cases.
 */
const lastTurnsMax = 30;
const linesMax = 40;

/**
 * Runs random customers of shops that are paid in runes, with a service that is killed, cut off and reorganised at any
 * moment. During the run, and at its end, ledger and index are compared with a model of the protocol.
 */
export async function runTokenChaos(options: TokenChaosOptions): Promise<TokenChaosResult> {
  mkdirSync(options.folder, { recursive: true, mode: 0o755 });
  const run = new TokenChaos(options);
  try {
    await run.start();
    await run.rounds();
    return await run.end();
  } finally {
    await run.close();
  }
}

interface Parts {
  readonly random: Random;
  readonly node: Bitcoind;
  readonly database: ChaosDatabase;
  readonly name: string;
  readonly shop: Supervisor;
  readonly makers: readonly Supervisor[];
  readonly chain: RegtestChain;
  readonly model: RuneChain;
  readonly payments: TokenPayments;
  readonly customers: TokenCustomers;
  readonly takers: TokenTakers;
  readonly buyers: RuneBuyers;
  readonly receiver: Receiver;
  readonly watch: TokenWatch;
  readonly items: ItemWatch;
  readonly desk: Shop;
  readonly passDay: PassDay;
}

class TokenChaos {
  readonly #options: TokenChaosOptions;
  readonly #random: Random;
  readonly #startedAt = Date.now();
  #database: ChaosDatabase | null = null;
  #node: Bitcoind | null = null;
  #receiver: Receiver | null = null;
  readonly #supervisors: Supervisor[] = [];
  #parts: Parts | null = null;
  /** Number of reorganisations by depth. `<depth> after completion` counts those that took a completed order back. */
  readonly #reorgs = new Map<string, number>();

  constructor(options: TokenChaosOptions) {
    this.#options = options;
    this.#random = seededRandom(`tokens ${options.seed}`);
  }

  async start(): Promise<void> {
    const { folder, bitcoind } = this.#options;
    this.#database = await ChaosDatabase.start(join(folder, 'database'));
    await this.#database.create(database);
    await migrate(this.#database.directUrl(database));
    // the node's mempool is empty after each start
    this.#node = await startBitcoind({
      executable: bitcoind,
      dataDir: join(folder, 'node'),
      extra: ['-persistmempool=0'],
    });
    const { rpc } = this.#node;
    const chain = await RegtestChain.start(rpc, startBlocks);
    this.#receiver = await startReceiver();
    const model = new RuneChain(rpc, startBlocks);
    const runes = await RunePurse.fill(chain, model);
    const purse = await Purse.fill(chain);
    const payments = new TokenPayments({ rpc, chain, purse, runes, model });
    const origin = `http://127.0.0.1:${await freePort()}`;
    const accounts = await this.#openAccounts(origin, join(folder, 'seed'));
    const sales = await this.#openSales(runes.runes, accounts);
    const { shop, makers } = this.#startService(runes.runes, origin);
    const query = (text: string) => this.#database!.query<never>(database, text);
    const customers = new TokenCustomers({
      random: this.#random,
      rpc,
      payments,
      accounts,
      baseFee,
      webhookUrl: `http://127.0.0.1:${this.#receiver.port}`,
      endTime: (id) => endTime(query, id),
    });
    const takers = new TokenTakers({
      random: this.#random,
      accounts,
      listing: accounts[accountsCount - 1]!.name,
      runes: runes.runes,
      open: () => this.#database!.pool(database),
    });
    await takers.start();
    const desk = new Shop(origin);
    const letPass: PassDay = (buyer, paid) => passDay(query, buyer, paid);
    const random = this.#random;
    const buyers = new RuneBuyers({ random, rpc, payments, shop: desk, sales, passDay: letPass });
    const watch = new TokenWatch({
      open: () => this.#database!.pool(database),
      model,
      charges: () => scriptsOf(customers.all).union(buyers.tokenScripts),
      receivers: () => takers.receivers,
      say: (fault) => this.#say(fault),
    });
    this.#parts = {
      random: this.#random,
      node: this.#node,
      database: this.#database,
      name: database,
      shop,
      makers,
      chain,
      model,
      payments,
      customers,
      takers,
      buyers,
      receiver: this.#receiver,
      watch,
      items: new ItemWatch(
        sales,
        () => this.#database!.pool(database),
        (fault) => this.#say(fault),
      ),
      desk,
      passDay: letPass,
    };
  }

  /**
   * Runs rounds of customers, blocks and faults in random order. Each failpoint has one round, and the rounds last at
   * least as long as the run should last.
   */
  async rounds(): Promise<void> {
    const until = this.#startedAt + this.#options.minutes * 60_000;
    const aims = this.#pairedAims();
    const faults: ServiceFault[] = shuffled(this.#random, serviceFaultNames);
    const depths: number[] = shuffled(this.#random, depthsAfterCompletion);
    for (let round = 0; aims.length + depths.length > 0 || Date.now() < until; round++) {
      const depth = depths.pop() ?? (this.#random.unit() < 0.2 ? this.#anyDepth() : null);
      if (depth !== null) await this.#takeCompletedBack(depth);
      const isAimed = this.#random.unit() * (aims.length + faults.length) < aims.length;
      await this.#round(round, isAimed || Date.now() > until ? aims.pop() : undefined, faults);
      if (aims.length === 0 && Date.now() < until && this.#random.unit() < 0.3)
        aims.push(...this.#pairedAims());
      this.#progress(round);
    }
  }

  /** Kills processes at the failpoints, or causes the next fault. Each fault occurs once, and then any fault. */
  async #round(round: number, aim: readonly (Aim | undefined)[] | undefined, faults: ServiceFault[]) {
    if (aim === undefined) await this.#faultRound(round, faults.pop() ?? this.#anyFault());
    else await this.#aimedRound(round, aim);
  }

  async end(): Promise<TokenChaosResult> {
    const parts = this.#running();
    const { customers, takers, buyers, watch, items } = parts;
    for (let turns = 0; turns < lastTurnsMax && takers.missing.length > 0; turns++) await this.#live();
    for (let turns = 0; turns < lastTurnsMax && buyers.missing.length > 0; turns++) await this.#buySome();
    const pool = this.#database!.pool(database);
    try {
      const end = await verdictOfTokenRun({
        ...parts,
        pool,
        shop: parts.desk,
        say: (words) => this.#say(words),
      });
      await Promise.all([watch.stop(), items.stop()]);
      const tried = { ...parts, end, depths: this.#reorgs, supervisors: this.#supervisors };
      const seen = [...watch.faults, ...items.faults];
      const differences = [...end.differences, ...seen, ...missingOf(tried)];
      for (const line of differences.slice(0, linesMax)) this.#say(line);
      const counts = {
        seed: this.#options.seed,
        orders: customers.all.length,
        payments: customers.sentCount,
        kills: killsOf(this.#supervisors),
        reorgs: [...this.#reorgs].reduce(
          (sum, [depth, times]) => (depth.includes(' ') ? sum : sum + times),
          0,
        ),
        looks: watch.looks,
      };
      const said = { ...parts, ...counts, end: { ...end, differences }, depths: this.#reorgs };
      const points = [...shopAims, ...makerAims].map(
        (name) => [name, hitsOf(this.#supervisors, name)] as const,
      );
      for (const line of tableOfRun({ ...said, points })) this.#say(line);
      const verdict = verdictLine(said);
      return { ...end, ...counts, differences, verdict };
    } finally {
      await pool.end();
    }
  }

  async close(): Promise<void> {
    await this.#parts?.watch.stop();
    await this.#parts?.items.stop();
    await Promise.all(this.#supervisors.map((each) => each.stop()));
    await this.#receiver?.close();
    await this.#node?.stop();
    await this.#database?.stop();
  }

  /** Makes keys of shops, and the wallet that their customers pay. */
  async #openAccounts(origin: string, seedFile: string) {
    const pool = this.#database!.pool(database);
    await makeTestWallet(pool, seedFile);
    const accounts = [];
    for (let count = 0; count < accountsCount; count++) {
      const { key, account } = await giveKey(pool, { scopes: ['tokenpay', 'tokenpay-withdraw'], rate: '0' });
      accounts.push({ name: account, shop: new Shop(origin, key) });
    }
    await pool.end();
    return accounts;
  }

  /** Makes collections that are sold for runes of the run. */
  async #openSales(runes: readonly RunRune[], accounts: readonly RunAccount[]) {
    const pool = this.#database!.pool(database);
    const files = join(this.#options.folder, 'files');
    const names = accounts.map(({ name }) => name);
    const sales = await openRuneSales(pool, files, runes, names);
    await pool.end();
    return sales;
  }

  #startService(runes: readonly RunRune[], origin: string): Pick<Parts, 'shop' | 'makers'> {
    const common = {
      // one rune waits for more blocks than the other runes
      TOKENPAY_CONFIRMATIONS: `1,${runes[1]!.name}:3`,
      PAYOUT_CONFIRMATIONS: String(payoutConfirmations),
    };
    const seedFile = join(this.#options.folder, 'seed');
    const signing = { ...common, ROLE: 'orders', WALLET_SEED_FILE: seedFile, PORT: '0' };
    return {
      shop: this.#serve('shop', { ...common, ROLE: 'all', PORT: new URL(origin).port }),
      makers: [this.#serve('first', signing), this.#serve('second', signing)],
    };
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
        BITCOIN_RPC_URL: this.#node!.rpcUrl,
        BITCOIN_COOKIE_FILE: this.#node!.cookieFile,
        FILES_DIR: join(folder, 'files'),
        SERVICE_SECRET_FILE: join(folder, 'secret'),
        ORDER_RATE: '0',
        INDEX_RUNES: 'true',
        TOKENPAY_BASE_FEE: String(baseFee),
        // all buyers have one IP address
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

  #pairedAims(): (readonly (Aim | undefined)[])[] {
    const [shops, makers] = [shuffled(this.#random, shopAims), shuffled(this.#random, makerAims)];
    const rounds = Math.max(shops.length, makers.length);
    return Array.from({ length: rounds }, (_, place) => [shops[place], makers[place]]);
  }

  #anyFault(): ServiceFault {
    return serviceFaultNames[this.#random.below(serviceFaultNames.length)]!;
  }

  #anyDepth(): number {
    return depthsAfterCompletion[this.#random.below(depthsAfterCompletion.length)]!;
  }

  async #faultRound(round: number, fault: ServiceFault): Promise<void> {
    this.#say(`round ${round}: ${fault}`);
    const parts = this.#running();
    if (fault === 'node-forgets') {
      await this.#live();
      await serviceFaults[fault](parts);
      await this.#sendAgain(0.8);
    } else await Promise.all([this.#live(), serviceFaults[fault](parts)]);
    await this.#live();
  }

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
    const { customers, takers, buyers } = this.#running();
    for (let made = 1 + random.below(3); made > 0; made--) await customers.pay();
    for (let made = 1 + random.below(2); made > 0; made--) await buyers.buy();
    await takers.act();
    if (aims.some((name) => takersPass.has(name))) await this.#takeSome();
    if (aims.some((name) => buyersPass.has(name))) await buyers.payExactly();
    const acts: (() => Promise<unknown>)[] = [
      () => customers.payAgain(),
      () => customers.topUp(),
      () => customers.payLate(),
      () => customers.replace(),
      () => customers.regret(),
      () => takers.act(),
      () => takers.act(),
      () => buyers.act(),
      () => buyers.act(),
      () => buyers.act(),
      () => this.#mine(),
      () => this.#mine(),
      () => this.#reorganise(),
    ];
    for (let done = 1 + random.below(3); done > 0; done--) await acts[random.below(acts.length)]?.();
    if (aims.includes('token-credits-removed') || aims.includes('payments-undo'))
      await this.#reorganiseCompleted(1);
    await this.#mine();
    await delay(random.below(800));
  }

  /** Makes only orders of items, and the things that happen to them later. */
  async #buySome(): Promise<void> {
    const { buyers, chain } = this.#running();
    for (let times = 0; times < 2; times++) await buyers.buy();
    for (let times = 0; times < 2; times++) await buyers.act();
    await chain.mineMempool();
  }

  /** Makes withdrawals of the accounts' holdings. One account may have nothing yet. */
  async #takeSome(): Promise<void> {
    const { takers } = this.#running();
    for (let times = 0; times < 2; times++) await takers.some();
  }

  async #mine(): Promise<void> {
    const { chain } = this.#running();
    for (let blocks = 1 + this.#random.below(3); blocks > 0; blocks--) {
      await chain.mineMempool();
      await delay(this.#random.below(300));
    }
  }

  #sendAgain(share: number): Promise<void> {
    return this.#running().payments.sendAgain(() => this.#random.unit() < share, 60);
  }

  async #reorganise(): Promise<void> {
    await this.#takeBack(reorgDepths[this.#random.below(reorgDepths.length)]!);
  }

  /** Replaces the last blocks by another branch that has some of their payments. */
  async #takeBack(depth: number): Promise<void> {
    const { chain, customers, buyers } = this.#running();
    this.#countReorg(String(depth));
    await chain.takeBack(depth);
    // a payment that was in a block is replaced before it is mined again
    if (this.#random.unit() < 0.4) await customers.replace();
    if (this.#random.unit() < 0.4) await buyers.replace();
    const blocks = depth + this.#random.below(3);
    if (this.#random.unit() < 0.5) await chain.mineEmpty(blocks + 1);
    else for (let mined = 0; mined <= blocks; mined++) await chain.mineMempool();
    await this.#sendAgain(0.5);
  }

  /**
   * Reorganises the block that paid a completed order. If the order is not completed in time on a loaded machine, tries
   * another order.
   */
  async #takeCompletedBack(depth: number): Promise<void> {
    for (let tries = 0; tries < completionTriesMax; tries++)
      if (await this.#reorganiseCompleted(depth)) return;
  }

  /**
   * Pays an order, and takes the block of its payment back after the order is completed. False if the order was not
   * completed in time.
   */
  async #reorganiseCompleted(depth: number): Promise<boolean> {
    const { chain, customers, desk } = this.#running();
    const { runes } = this.#running().payments;
    const { id } = await customers.payExactly(runes[this.#random.below(2) * 2]);
    await chain.mineMempool();
    const { state } = await this.#completed(desk, id);
    if (state !== 'completed') return false;
    if (depth > 1) await chain.mineEmpty(depth - 1);
    await this.#takeBack(depth);
    this.#countReorg(`${depth} after completion`);
    await delay(this.#random.below(1_000));
    return true;
  }

  async #completed(desk: Shop, id: string): Promise<{ readonly state: string }> {
    const read = () => desk.ask<{ readonly state: string }>(`/tokenpay/order/${id}`, null);
    let shown = (await read()).body;
    for (const until = Date.now() + completedWithinMs; Date.now() < until; await delay(lookMs)) {
      if (shown.state === 'completed') return shown;
      shown = (await read()).body;
    }
    return shown;
  }

  #countReorg(depth: string): void {
    this.#reorgs.set(depth, (this.#reorgs.get(depth) ?? 0) + 1);
  }

  #progress(round: number): void {
    const { customers, buyers, watch } = this.#running();
    this.#say(
      `after round ${round}: ${customers.all.length} orders, ${buyers.all.length} sales, ${customers.sentCount} payments, ${killsOf(this.#supervisors)} kills, ${watch.looks} looks`,
    );
  }

  #running(): Parts {
    if (this.#parts === null) throw new Error('the run has not started');
    return this.#parts;
  }

  #say(words: string): void {
    const seconds = ((Date.now() - this.#startedAt) / 1000).toFixed(0).padStart(4);
    this.#options.say(`${seconds} s  ${words}`);
  }
}
