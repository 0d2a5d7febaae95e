import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { attachEmbeddedPostgres } from '#embedded-postgres/embedded-postgres.ts';
import { connectClient } from '#kernel/pg/pool.ts';
import { RegtestChain } from '#test/builders/regtest/regtest-chain.ts';
import { addressOf } from '#test/builders/regtest/regtest-transaction.ts';
import type { Bitcoind } from '#test/support/node/bitcoind.ts';
import { runCli } from '#test/support/run-cli.ts';
import { type Receiver, startReceiver } from '#test/support/webhooks/receiver.ts';
import { type AskedBeside, askedBeside } from '../asked-beside.ts';
import { withBenchNode } from '../bench-node.ts';
import { broadcastAt } from '../broadcast-at.ts';
import { nodeSettings, SatscribeProcess } from '../follow/satscribe-process.ts';
import { nameOption, numberOption } from '../options.ts';
import { peakMegabytes } from '../process-peak.ts';
import type { Figure, Report } from '../report.ts';
import { percentile } from '../statistics.ts';
import { creationFigures } from './creations.ts';
import { grindingFigures } from './grinding.ts';
import { largeOrders } from './large-orders.ts';
import { filesOfMany, inputs, manyInputs } from './many-inputs.ts';
import { payoutFigures, shares } from './payouts.ts';
import { filesOfPrice, priceFigures, pricesAlone } from './prices.ts';

const receiver = 900;
/** Number of files in the order with which the time from confirmed to "all reveals broadcast" is measured. */
const filesOfPaid = 20;
const lookMs = 10;
const waitMs = 120_000;
/** End of the names of figures that are measured beside open orders. */
const suffixLoaded = 'Loaded';
/** Number of reads of open orders per second, during the second measurement. */
const pollsPerSecond = 100;
/** Maximum number of these reads at the same time. */
const pollsAtOnce = 10;
const parts = ['customers', 'inputs', 'payout', 'large'] as const;

interface Shown {
  readonly id: string;
  readonly state: string;
  readonly charge: { readonly address: string; readonly amount: number };
  readonly files: readonly { readonly sent?: string }[];
}

/** Measures how long customers wait: for a price, an address, a seen payment, and a broadcast inscription. */
export async function ordersBench(args: string[]): Promise<Report> {
  const { values } = parseArgs({
    args,
    options: {
      orders: { type: 'string', default: '100' },
      paid: { type: 'string', default: '20' },
      open: { type: 'string', default: '10000' },
      creations: { type: 'string', default: '1500' },
      only: { type: 'string' },
    },
  });
  const only = nameOption('only', values.only, parts);
  const figuresIf = async (
    part: (typeof parts)[number],
    measure: () => Promise<Figure[]>,
  ): Promise<Figure[]> => (only === null || only === part ? measure() : []);
  const orders = numberOption('orders', values.orders, 10);
  const paid = numberOption('paid', values.paid, 1);
  const open = numberOption('open', values.open, 0);
  const creations = numberOption('creations', values.creations, 16);
  return withBenchNode('orders', async (node, dir) => {
    const chain = await RegtestChain.start(node.rpc, 120 + 2 * paid);
    const shop = await Shop.open(chain, node, dir);
    const measured = async (): Promise<Report> => {
      const customers = await figuresIf('customers', async () => {
        const alone = [
          ...(await shop.prices()),
          ...(await grindingFigures()),
          ...figuresOf(await shop.measure(orders, paid), ''),
          ...(await shop.creations(creations)),
        ];
        const ids = await shop.order(open, 1);
        const { result: loaded, times: polled } = await shop.polled(ids, () => shop.measure(orders, paid));
        return [
          ...alone,
          ...figuresOf(loaded, suffixLoaded),
          { name: `orderReadP99Ms${suffixLoaded}`, value: percentile(polled, 0.99), unit: 'ms' },
          ...(await shop.creations(creations, suffixLoaded)),
        ];
      });
      const many = await figuresIf('inputs', () => shop.manyInputs());
      const payout = await figuresIf('payout', () => shop.payout());
      const large = await figuresIf('large', () => shop.large());
      return {
        bench: 'orders',
        notes: [
          `${orders} orders of one file, ${paid} of ${filesOfPaid} files that are paid; real node, embedded Postgres`,
          `price: ${pricesAlone} answers of POST /price for one file over HTTP, one after the other; priceOf${filesOfPrice}: for ${filesOfPrice} files`,
          'paymentSeen, webhook: from just before the broadcast of the payment to a read that shows it, and to its message',
          `…Of16: ${creations} creations by 16 clients at once, direct and managed ones in turns`,
          'largeBody: an order of 50 MB of files, alone; largeBodies: three of them at once, to the same process',
          `manyInputs: one order of ${filesOfMany} files, paid in ${inputs} outputs that its reveal spends`,
          `payout: ${shares} shares to as many addresses; sent: from the command to the broadcast, mined: from its block to the ledger`,
          `${suffixLoaded}: beside ${open} open orders; except for creations, ${pollsPerSecond} of them are read in a second`,
        ],
        figures: [
          ...customers,
          ...many,
          ...payout,
          ...large,
          { name: 'peakMemoryMB', value: await shop.peakMemoryMB(), unit: 'MB' },
        ],
        details: [],
      };
    };
    try {
      return await shop.during(measured);
    } finally {
      await shop.close();
    }
  });
}

interface Measured {
  readonly ordersPerSecond: number;
  readonly chargeVisibleMs: readonly number[];
  readonly paymentSeenMs: readonly number[];
  readonly revealedMs: readonly number[];
  /** Time from the broadcast of a payment to the arrival of the message about it, in ms. */
  readonly webhookMs: readonly number[];
}

function figuresOf(measured: Measured, suffix: string): Figure[] {
  return [
    { name: `ordersPerSecond${suffix}`, value: measured.ordersPerSecond, unit: '/s' },
    {
      name: `chargeVisibleP99Ms${suffix}`,
      value: percentile(measured.chargeVisibleMs, 0.99),
      unit: 'ms',
      target: { most: 300 },
    },
    {
      name: `paymentSeenP95Ms${suffix}`,
      value: percentile(measured.paymentSeenMs, 0.95),
      unit: 'ms',
      target: { most: 1000 },
    },
    {
      name: `confirmedToRevealsP95Ms${suffix}`,
      value: percentile(measured.revealedMs, 0.95),
      unit: 'ms',
      target: { most: 3000 },
    },
    {
      name: `webhookP95Ms${suffix}`,
      value: percentile(measured.webhookMs, 0.95),
      unit: 'ms',
      target: { most: 1000 },
    },
  ];
}

/** A service with a wallet, and what its customers do. */
class Shop {
  readonly #chain: RegtestChain;
  readonly #process: SatscribeProcess;
  /** Settings of commands that run beside the service. */
  readonly #env: Readonly<Record<string, string>>;
  readonly #origin: string;
  readonly #receiver: Receiver;
  /** Arrival times of messages, by order and state. */
  readonly #told: ReadonlyMap<string, number>;

  private constructor(
    chain: RegtestChain,
    process: SatscribeProcess,
    env: Readonly<Record<string, string>>,
    origin: string,
    receiver: Receiver,
    told: ReadonlyMap<string, number>,
  ) {
    this.#chain = chain;
    this.#process = process;
    this.#env = env;
    this.#origin = origin;
    this.#receiver = receiver;
    this.#told = told;
  }

  static async open(chain: RegtestChain, node: Bitcoind, dir: string): Promise<Shop> {
    const env = {
      ...nodeSettings(node),
      WALLET_SEED_FILE: join(dir, 'seed'),
      ORDER_RATE: '0',
      ALLOW_PRIVATE_URLS: 'true',
      // a delivery in the last block may be paid out
      PAYOUT_CONFIRMATIONS: '1',
    };
    const service = await SatscribeProcess.start(['serve', '--port', '0'], join(dir, 'data'), env);
    const origin = await service.ready();
    const init = await SatscribeProcess.start(['wallet', 'init'], join(dir, 'data'), env);
    await init.success();
    const told = new Map<string, number>();
    const receiver = await startReceiver(({ body }, response) => {
      const { id, state } = JSON.parse(body.toString()) as Pick<Shown, 'id' | 'state'>;
      told.set(`${id} ${state}`, performance.now());
      response.end();
    });
    const shop = new Shop(chain, service, { ...env, DATA_DIR: join(dir, 'data') }, origin, receiver, told);
    await shop.#untilOpen();
    return shop;
  }

  async measure(orders: number, paid: number): Promise<Measured> {
    const chargeVisibleMs: number[] = [];
    const startedAt = performance.now();
    for (let made = 0; made < orders; made++) chargeVisibleMs.push(await this.#visible());
    const ordersPerSecond = (orders * 1000) / (performance.now() - startedAt);
    const paymentSeenMs: number[] = [];
    const revealedMs: number[] = [];
    const webhookMs: number[] = [];
    for (let made = 0; made < paid; made++) {
      const webhookUrl = `http://127.0.0.1:${this.#receiver.port}/`;
      const order = await this.#read(await this.#create(filesOfPaid, { webhookUrl }));
      const paidAt = await this.#pay(order.charge.address, order.charge.amount);
      await this.#until(order.id, ({ state }) => state === 'waiting-confirmation');
      paymentSeenMs.push(performance.now() - paidAt);
      webhookMs.push((await this.#toldAt(order.id, 'waiting-confirmation')) - paidAt);
      await this.#chain.mineMempool();
      const minedAt = performance.now();
      await this.#until(order.id, ({ files }) => files.every(({ sent }) => sent !== undefined));
      revealedMs.push(performance.now() - minedAt);
      await this.#chain.mineMempool();
    }
    return { ordersPerSecond, chargeVisibleMs, paymentSeenMs, revealedMs, webhookMs };
  }

  /** Makes open orders, four at a time. Returns their ids. */
  async order(count: number, files: number): Promise<string[]> {
    const ids: string[] = [];
    const makers = Array.from({ length: 4 }, async () => {
      while (ids.length < count) ids.push(await this.#create(files));
    });
    await Promise.all(makers);
    return ids;
  }

  /** Reads orders while work runs. Returns how long the reads took. */
  polled<Result>(ids: readonly string[], work: () => Promise<Result>): Promise<AskedBeside<Result>> {
    return askedBeside(
      { everyMs: 1000 / pollsPerSecond, atOnce: pollsAtOnce },
      async (place) => {
        const id = ids[place % Math.max(1, ids.length)];
        if (id !== undefined) await this.#read(id);
      },
      work,
    );
  }

  /** Runs work on the service. Throws if the service ends before the work. */
  during<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.#process.during(work);
  }

  /** Measures prices over HTTP. */
  prices(): Promise<Figure[]> {
    return priceFigures(this.#origin, addressOf(receiver));
  }

  /** Measures creations by many concurrent clients. */
  creations(orders: number, suffix = ''): Promise<Figure[]> {
    return creationFigures(this.#origin, orders, suffix);
  }

  /** Measures one order that is paid with many outputs. */
  async manyInputs(): Promise<Figure[]> {
    const { id, charge } = await this.#read(await this.#create(filesOfMany));
    return manyInputs({
      origin: this.#origin,
      pid: this.#process.pid,
      chain: this.#chain,
      order: charge,
      sent: () => this.#until(id, ({ files }) => files.every(({ sent }) => sent !== undefined)),
    });
  }

  /** Measures one payout of many shares. */
  async payout(): Promise<Figure[]> {
    const { id, charge } = await this.#read(await this.#create(1));
    await this.#pay(charge.address, charge.amount);
    await this.#chain.mineMempool();
    await this.#until(id, ({ files }) => files.every(({ sent }) => sent !== undefined));
    await this.#chain.mineMempool();
    await this.#until(id, ({ state }) => state === 'completed');
    const { url } = await attachEmbeddedPostgres(this.#env['DATA_DIR'] ?? '');
    const client = await connectClient(url);
    try {
      return await payoutFigures({
        client,
        pid: this.#process.pid,
        chain: this.#chain,
        orderId: id,
        command: (words) => runCli(words, this.#env),
      });
    } finally {
      await client.end();
    }
  }

  /** Measures three concurrent orders of 50 MB. */
  large(): Promise<Figure[]> {
    return largeOrders({
      origin: this.#origin,
      receiveAddress: addressOf(receiver),
      peakMemoryMB: () => this.peakMemoryMB(),
    });
  }

  peakMemoryMB(): Promise<number> {
    return peakMegabytes(this.#process.pid);
  }

  async close(): Promise<void> {
    await this.#process.stop();
    await this.#receiver.close();
  }

  /** Time from a creation until the address of its charge is shown, in ms. */
  async #visible(): Promise<number> {
    const at = performance.now();
    const id = await this.#create(1);
    await this.#until(id, ({ charge }) => charge.address !== undefined);
    return performance.now() - at;
  }

  async #create(files: number, more: { readonly webhookUrl?: string } = {}): Promise<string> {
    const answer = await fetch(`${this.#origin}/inscribe`, {
      method: 'POST',
      signal: AbortSignal.timeout(waitMs),
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        files: Array.from({ length: files }, (_, index) => ({
          name: `${index}.txt`,
          size: 8,
          dataURL: `data:text/plain;base64,${Buffer.from(`file ${Math.random()} ${index}`).toString('base64')}`,
        })),
        receiveAddress: addressOf(receiver),
        fee: 2,
        ...more,
      }),
    });
    if (answer.status !== 200)
      throw new Error(`an order was answered ${answer.status}: ${await answer.text()}`);
    return ((await answer.json()) as Shown).id;
  }

  /** Waits until the process has found the wallet and accepts orders. */
  async #untilOpen(): Promise<void> {
    const until = performance.now() + waitMs;
    for (;;) {
      try {
        await this.#create(1);
        return;
      } catch (error) {
        if (performance.now() > until) throw error;
        await sleep(1000);
      }
    }
  }

  async #read(id: string): Promise<Shown> {
    const signal = AbortSignal.timeout(waitMs);
    return (await (await fetch(`${this.#origin}/order/${id}`, { signal })).json()) as Shown;
  }

  /** Pays an address. Returns the time just before the broadcast. */
  async #pay(address: string, value: number): Promise<number> {
    return broadcastAt(this.#chain, await this.#chain.paymentTo(address, value));
  }

  async #toldAt(id: string, state: string): Promise<number> {
    const until = performance.now() + waitMs;
    for (;;) {
      const at = this.#told.get(`${id} ${state}`);
      if (at !== undefined) return at;
      if (performance.now() > until) throw new Error(`no message arrived that order ${id} is ${state}`);
      await sleep(1);
    }
  }

  async #until(id: string, isSo: (order: Shown) => boolean): Promise<void> {
    const until = performance.now() + waitMs;
    for (;;) {
      const order = await this.#read(id);
      if (isSo(order)) return;
      if (performance.now() > until) throw new Error(`order ${id} stays ${order.state}`);
      await sleep(lookMs);
    }
  }
}
