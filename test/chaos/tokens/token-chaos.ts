import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { migrate } from '#kernel/pg/migrate.ts';
import { type Random, seededRandom, shuffled } from '#test/builders/random.ts';
import { RegtestChain } from '#test/builders/regtest/regtest-chain.ts';
import { type ServiceFault, serviceFaultNames, serviceFaults } from '#test/chaos/orders/order-faults.ts';
import { Purse } from '#test/chaos/orders/purse.ts';
import { Shop } from '#test/chaos/orders/shop.ts';
import { ChaosDatabase } from '#test/chaos/processes/chaos-database.ts';
import { hitsOf, killAtPoints, killsOf } from '#test/chaos/processes/kill-at-points.ts';
import { Supervisor } from '#test/chaos/processes/supervisor.ts';
import { freePort } from '#test/support/free-port.ts';
import { giveKey } from '#test/support/http/search-access.ts';
import { type Bitcoind, startBitcoind } from '#test/support/node/bitcoind.ts';
import { makeTestWallet } from '#test/support/orders/test-wallet.ts';
import { type Receiver, startReceiver } from '#test/support/webhooks/receiver.ts';
import { RuneChain } from './rune-chain.ts';
import { RunePurse } from './rune-purse.ts';
import { type Aim, makerAims, shopAims, takersPass } from './token-aims.ts';
import { paymentCases, TokenCustomers } from './token-customers.ts';
import { TokenPayments } from './token-payments.ts';
import { scriptsOf, type TokenRunEnd, verdictOfTokenRun } from './token-run-verdict.ts';
import { TokenTakers, takingCases } from './token-takers.ts';
import { TokenWatch } from './token-watch.ts';

export interface TokenChaosOptions {
  readonly seed: string;
  /** Faults continue at least this long, and until each failpoint was hit. */
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
/** Deeper than any reorganisation of a run: after that, a batch whose coins are gone is planned again. */
const payoutConfirmations = 14;
const reorgDepths = [1, 1, 1, 2, 3, 5, 12];
/** Depths of reorganisations that take a completed order back. */
const depthsAfterCompletion = [1, 12] as const;
const completedWithinMs = 60_000;
const completionTriesMax = 3;
const lookMs = 200;
/** A short run has few withdrawals: these turns add the missing cases. */
const lastTurnsMax = 30;
const linesMax = 40;

/**
 * Random customers of shops that are paid in runes, with a service that is killed, cut off and reorganised at any
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
  readonly receiver: Receiver;
  readonly watch: TokenWatch;
  readonly desk: Shop;
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
  /** Reorganisations by depth; `<depth> after completion`: they took a completed order back. */
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
    // its mempool is empty after each start
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
    // one rune waits for more blocks than the others
    const confirmations = `1,${runes.runes[1]!.name}:3`;
    const common = {
      TOKENPAY_CONFIRMATIONS: confirmations,
      PAYOUT_CONFIRMATIONS: String(payoutConfirmations),
    };
    const shop = this.#serve('shop', { ...common, ROLE: 'all', PORT: new URL(origin).port });
    const signing = { ...common, ROLE: 'orders', WALLET_SEED_FILE: join(folder, 'seed'), PORT: '0' };
    const makers = [this.#serve('first', signing), this.#serve('second', signing)];
    const customers = new TokenCustomers({
      random: this.#random,
      rpc,
      payments,
      accounts,
      baseFee,
      webhookUrl: `http://127.0.0.1:${this.#receiver.port}`,
      endTime: (id) => this.#endTime(id),
    });
    const takers = new TokenTakers({
      random: this.#random,
      accounts,
      listing: accounts[accountsCount - 1]!.name,
      runes: runes.runes,
      open: () => this.#database!.pool(database),
    });
    await takers.start();
    const watch = new TokenWatch({
      open: () => this.#database!.pool(database),
      model,
      charges: () => scriptsOf(customers.all),
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
      receiver: this.#receiver,
      watch,
      desk: new Shop(origin),
    };
  }

  /** Rounds of customers, blocks and faults in random order: each failpoint once, and for the duration of the run. */
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

  /** Kills at the points, or causes the next fault: each once, then any. */
  async #round(round: number, aim: readonly (Aim | undefined)[] | undefined, faults: ServiceFault[]) {
    if (aim === undefined) await this.#faultRound(round, faults.pop() ?? this.#anyFault());
    else await this.#aimedRound(round, aim);
  }

  async end(): Promise<TokenChaosResult> {
    const parts = this.#running();
    const { customers, takers, watch } = parts;
    for (let turns = 0; turns < lastTurnsMax && takers.missing.length > 0; turns++) await this.#live();
    const pool = this.#database!.pool(database);
    try {
      const end = await verdictOfTokenRun({
        ...parts,
        pool,
        shop: parts.desk,
        say: (words) => this.#say(words),
      });
      await watch.stop();
      const differences = [...end.differences, ...watch.faults, ...this.#missing()];
      for (const line of differences.slice(0, linesMax)) this.#say(line);
      const reorgs = [...this.#reorgs].filter(([depth]) => !depth.includes(' '));
      const counts = {
        seed: this.#options.seed,
        orders: customers.all.length,
        payments: customers.sentCount,
        kills: killsOf(this.#supervisors),
        reorgs: reorgs.reduce((sum, [, times]) => sum + times, 0),
        looks: watch.looks,
      };
      this.#sayTable({ ...end, differences }, counts.kills);
      const taken = Object.entries(end.withdrawals).map(([state, times]) => `${state}=${times}`);
      const states = Object.entries(end.states).map(([state, times]) => `${state}=${times}`);
      const verdict = `chaos: ${differences.length} differences; orders=${counts.orders} (${states.join(', ')}), payments=${counts.payments}, withdrawals=${takers.all.length} (${taken.join(', ')}), received=${end.received}, messages=${end.messages}, kills=${counts.kills}, reorgs=${counts.reorgs}, looks=${watch.looks} (compared=${watch.compared}, stale=${watch.stale}), seed=${counts.seed}`;
      return { ...end, ...counts, differences, verdict };
    } finally {
      await pool.end();
    }
  }

  async close(): Promise<void> {
    await this.#parts?.watch.stop();
    await Promise.all(this.#supervisors.map((each) => each.stop()));
    await this.#receiver?.close();
    await this.#node?.stop();
    await this.#database?.stop();
  }

  /** Keys of shops, and the wallet that their customers pay to. */
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
        // the receiver of webhooks is on this machine
        ALLOW_PRIVATE_URLS: 'true',
        ...env,
      },
    });
    this.#supervisors.push(supervisor);
    return supervisor;
  }

  /** Cases that a run must have had: otherwise its verdict proves nothing. */
  #missing(): string[] {
    const { customers, takers, watch } = this.#running();
    const points = [...shopAims, ...makerAims].filter((name) => hitsOf(this.#supervisors, name) === 0);
    const cases = paymentCases.filter((name) => !customers.sent.has(name));
    const depths = depthsAfterCompletion.filter((depth) => !this.#reorgs.has(`${depth} after completion`));
    return [
      ...points.map((name) => `the failpoint ${name} was never hit`),
      ...cases.map((name) => `no payment of the case "${name}" was made`),
      ...takers.missing.map((name) => `no withdrawal of the case "${name}" was made`),
      ...depths.map((depth) => `no reorganisation of ${depth} took a completed order back`),
      ...(watch.compared === 0 ? ['holdings of addresses were never compared'] : []),
      ...(watch.reserved === 0 ? ['no look saw a withdrawal'] : []),
      ...this.#supervisors.flatMap(({ exits }) => exits.map((words) => `process: ${words}`)),
    ];
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

  /** Some actions of customers and miners, and actions that pass the given points. */
  async #live(aims: readonly Aim[] = []): Promise<void> {
    const random = this.#random;
    const { customers, takers } = this.#running();
    for (let made = 1 + random.below(3); made > 0; made--) await customers.pay();
    await takers.act();
    if (aims.some((name) => takersPass.has(name))) await this.#takeSome();
    const acts: (() => Promise<unknown>)[] = [
      () => customers.payAgain(),
      () => customers.topUp(),
      () => customers.payLate(),
      () => customers.replace(),
      () => customers.regret(),
      () => takers.act(),
      () => takers.act(),
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

  /** Makes withdrawals of the accounts' holdings: one account may have nothing yet. */
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

  /** Replaces the last blocks by another branch, with some of their payments. */
  async #takeBack(depth: number): Promise<void> {
    const { chain, customers } = this.#running();
    this.#countReorg(String(depth));
    await chain.takeBack(depth);
    // a payment that was in a block is replaced before it is mined again
    if (this.#random.unit() < 0.4) await customers.replace();
    const blocks = depth + this.#random.below(3);
    if (this.#random.unit() < 0.5) await chain.mineEmpty(blocks + 1);
    else for (let mined = 0; mined <= blocks; mined++) await chain.mineMempool();
    await this.#sendAgain(0.5);
  }

  /** Takes completed orders back. On a loaded machine an order takes longer to complete: then another one is tried. */
  async #takeCompletedBack(depth: number): Promise<void> {
    for (let tries = 0; tries < completionTriesMax; tries++)
      if (await this.#reorganiseCompleted(depth)) return;
  }

  /**
   * Pays an order, and takes the block of its payment back once it is completed. False: it was not completed in time.
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

  /** Ends the time of an order some seconds ago: the node notes the times of payments in seconds. */
  async #endTime(id: string): Promise<void> {
    // whole milliseconds, as the service stores them
    const end = `date_trunc('milliseconds', now() - interval '10 seconds')`;
    const over = `UPDATE service.token_orders SET created_at = ${end} - interval '1 hour', expires_at = ${end},
        ends_at = ${end}, look_at = now() WHERE id = '${id}'`;
    // a database that goes down may have done it, or not
    for (;;) {
      try {
        await this.#database!.query(database, over);
        return;
      } catch {
        await delay(lookMs);
      }
    }
  }

  #sayTable({ states, received, withdrawals, messages, differences }: TokenRunEnd, kills: number): void {
    const { customers, takers, watch } = this.#running();
    const listed = (counts: Iterable<readonly [string, number]>): string =>
      [...counts].map(([name, times]) => `${name} ${times}`).join(', ');
    const points = [...shopAims, ...makerAims].map(
      (name) => [name, hitsOf(this.#supervisors, name)] as const,
    );
    const rows: readonly (readonly [string, string])[] = [
      ['orders', `${customers.all.length}: ${listed(Object.entries(states))}`],
      ['payments', listed(paymentCases.map((name) => [name, customers.sent.get(name) ?? 0]))],
      ['withdrawals', `${takers.all.length}: ${listed(Object.entries(withdrawals))}`],
      ['asked for', listed(takingCases.map((name) => [name, takers.done.get(name) ?? 0]))],
      ['outputs', `${received} at addresses of charges`],
      ['messages', `${messages}`],
      ['kills', `${kills}: ${listed(points)}`],
      [
        'reorganisations',
        listed([...this.#reorgs].toSorted(([a], [b]) => Number.parseInt(a) - Number.parseInt(b))),
      ],
      [
        'looks',
        `${watch.looks}, ${watch.compared} compared, ${watch.stale} while a credit was about to go, ${watch.reserved} with units reserved, ${watch.behind} while a withdrawal was not yet at its state in blocks`,
      ],
      ['differences', `${differences.length}, ${watch.faults.length} of them in looks`],
    ];
    for (const [name, words] of rows) this.#say(`${name.padEnd(16)} ${words}`);
  }

  #progress(round: number): void {
    const { customers, watch } = this.#running();
    this.#say(
      `after round ${round}: ${customers.all.length} orders, ${customers.sentCount} payments, ${killsOf(this.#supervisors)} kills, ${watch.looks} looks`,
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
