import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { attachEmbeddedPostgres } from '#embedded-postgres/embedded-postgres.ts';
import { familyCpuMs } from '#kernel/stages/process-times.ts';
import { RegtestChain } from '#test/builders/regtest/regtest-chain.ts';
import { addressOf, transaction } from '#test/builders/regtest/regtest-transaction.ts';
import type { Bitcoind } from '#test/support/node/bitcoind.ts';
import { waitUntil } from '#test/support/wait-until.ts';
import { withBenchNode } from '../bench-node.ts';
import { byClients } from '../clients.ts';
import { nodeSettings, SatscribeProcess } from '../follow/satscribe-process.ts';
import { numberOption } from '../options.ts';
import type { Figure, Report } from '../report.ts';
import { percentile } from '../statistics.ts';

const receiver = 900;
/** Number of outputs in one transaction that pays orders. */
const ordersOfOne = 200;
/** Number of blocks in each measurement: first without waiting orders, then with all of them. */
const blocks = 3;
/**
 * Measured time after each block, in ms. It is longer than all work for the block, and other work is the same in both
 * measurements.
 */
const settleMs = 4_000;
const waitMs = 900_000;
const letters = 13;

interface Charge {
  readonly address: string;
  readonly amount: number;
}

/**
 * `npm run bench -- etchings`: the cost of a block while etchings wait, and the time until their reveals are broadcast.
 */
export async function etchingsBench(args: string[]): Promise<Report> {
  const { values } = parseArgs({ args, options: { waiting: { type: 'string', default: '1000' } } });
  const waiting = numberOption('waiting', values.waiting, 1);
  return withBenchNode('etchings', async (node, dir) => {
    const chain = await RegtestChain.start(node.rpc, 150);
    const service = await EtchingService.open(node, chain, dir);
    try {
      return {
        bench: 'etchings',
        notes: [
          `${waiting} orders of POST /runes/etch, which wait for the depth of their commits; a service process, a real node, embedded Postgres`,
          `blockCpuMs: processor time of the service with its Postgres within ${settleMs / 1000} s of a block, the mean of ${blocks} blocks; Alone: before there is an order`,
          'revealSentMs: from the block that makes all reveals valid to each broadcast, by the clock of the database',
        ],
        figures: await service.figures(waiting),
        details: [],
      };
    } finally {
      await service.close();
    }
  });
}

class EtchingService {
  readonly #chain: RegtestChain;
  readonly #process: SatscribeProcess;
  readonly #origin: string;
  readonly #pool: pg.Pool;

  private constructor(chain: RegtestChain, service: SatscribeProcess, origin: string, pool: pg.Pool) {
    this.#chain = chain;
    this.#process = service;
    this.#origin = origin;
    this.#pool = pool;
  }

  static async open(node: Bitcoind, chain: RegtestChain, dir: string): Promise<EtchingService> {
    const dataDir = join(dir, 'data');
    const env = {
      ...nodeSettings(node),
      WALLET_SEED_FILE: join(dir, 'seed'),
      INDEX_RUNES: 'true',
      ORDER_RATE: '0',
    };
    const service = await SatscribeProcess.start(['serve', '--port', '0'], dataDir, env);
    const origin = await service.ready();
    const init = await SatscribeProcess.start(['wallet', 'init'], dataDir, env);
    await init.success();
    const { url } = await attachEmbeddedPostgres(dataDir);
    return new EtchingService(chain, service, origin, new pg.Pool({ connectionString: url, max: 2 }));
  }

  async figures(waiting: number): Promise<Figure[]> {
    // the service accepts orders once it has its wallet
    await this.#order(0);
    const alone = await this.#blockCpuMs();
    const charges: Charge[] = [];
    await byClients(waiting, async (nth) => {
      charges[nth] = await this.#order(nth + 1);
    });
    await this.#pay(charges);
    await this.#untilSent('commit', waiting);
    await this.#mineCommits(waiting);
    await this.#untilIn('waiting-reveal', waiting);
    await this.#untilFollowed();
    // these are three of the four blocks above the commits
    const beside = await this.#blockCpuMs();
    await this.#chain.mine();
    const { rows: starts } = await this.#pool.query<{ now: Date }>('SELECT now()');
    await this.#untilSent('reveal', waiting);
    const { rows } = await this.#pool.query<{ sent_at: Date }>(
      `SELECT sent_at FROM service.wallet_transactions WHERE kind = 'reveal' AND sent_at IS NOT NULL ORDER BY sent_at`,
    );
    const sentMs = rows.map(({ sent_at: at }) => at.getTime() - starts[0]!.now.getTime());
    return [
      { name: 'blockCpuMsAlone', value: alone, unit: 'ms' },
      { name: 'blockCpuMsWaiting', value: beside, unit: 'ms' },
      { name: 'waitingCostMs', value: beside - alone, unit: 'ms', target: { most: 200 } },
      { name: 'firstRevealSentMs', value: sentMs[0] ?? Number.NaN, unit: 'ms', target: { most: 3000 } },
      { name: 'revealSentP50Ms', value: percentile(sentMs, 0.5), unit: 'ms' },
      { name: 'lastRevealSentMs', value: sentMs.at(-1) ?? Number.NaN, unit: 'ms' },
    ];
  }

  async close(): Promise<void> {
    await this.#pool.end();
    await this.#process.stop();
  }

  /** Orders an etching whose name no other order has. */
  async #order(nth: number): Promise<Charge> {
    return waitUntil(
      async () => {
        const answer = await fetch(`${this.#origin}/runes/etch`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({
            rune: nameOf(nth),
            premine: 1000,
            receiveAddress: addressOf(receiver),
            fee: 2,
          }),
        });
        const body = (await answer.json()) as { charge: Charge };
        if (answer.status !== 200) throw new Error(JSON.stringify(body));
        return body.charge;
      },
      { limitMs: 60_000, everyMs: 200 },
    );
  }

  /** Pays in as few transactions as possible, and mines them. */
  async #pay(charges: readonly Charge[]): Promise<void> {
    const payments = [];
    for (let from = 0; from < charges.length; from += ordersOfOne) {
      const paid = charges.slice(from, from + ordersOfOne);
      const outputs = await Promise.all(
        paid.map(async ({ address, amount }) => {
          const { scriptPubKey } = await this.#chain.rpc.call<{ scriptPubKey: string }>('validateaddress', [
            address,
          ]);
          return { value: amount, outputScript: Buffer.from(scriptPubKey, 'hex') };
        }),
      );
      payments.push(transaction([await this.#chain.coin()], outputs));
    }
    await this.#chain.mine(payments);
  }

  /** Mines all commits in one block. Throws if the block leaves some of them for the next block. */
  async #mineCommits(waiting: number): Promise<void> {
    await this.#chain.mineMempool();
    const { size } = await this.#chain.rpc.call<{ size: number }>('getmempoolinfo', []);
    if (size > 0) throw new Error(`a block has ${waiting - size} of ${waiting} commits`);
  }

  async #blockCpuMs(): Promise<number> {
    const cpuMs = (): number => familyCpuMs(this.#process.pid) ?? Number.NaN;
    await sleep(settleMs);
    let spent = 0;
    for (let block = 0; block < blocks; block++) {
      const before = cpuMs();
      await this.#chain.mine();
      await sleep(settleMs);
      spent += cpuMs() - before;
    }
    return spent / blocks;
  }

  #untilSent(kind: 'commit' | 'reveal', count: number): Promise<void> {
    return this.#until(
      `SELECT count(*)::integer AS count FROM service.wallet_transactions WHERE kind = '${kind}' AND sent_at IS NOT NULL`,
      count,
    );
  }

  #untilIn(state: string, count: number): Promise<void> {
    return this.#until(
      `SELECT count(*)::integer AS count FROM service.orders WHERE state = '${state}'`,
      count,
    );
  }

  /**
   * Waits until all payments are applied to their orders. The block with the commits changes every order's payments.
   */
  #untilFollowed(): Promise<void> {
    return this.#until(
      `SELECT ((SELECT change FROM service.orders_offset) >= (SELECT max(change) FROM service.payments_seen))::integer AS count`,
      1,
    );
  }

  async #until(query: string, count: number): Promise<void> {
    await waitUntil(
      async () => {
        const { rows } = await this.#pool.query<{ count: number }>(query);
        if ((rows[0]?.count ?? 0) < count) throw new Error(`${rows[0]?.count} of ${count}: ${query}`);
      },
      { limitMs: waitMs, everyMs: 50 },
    );
  }
}

/** The name of an order: its number in letters. */
function nameOf(nth: number): string {
  let name = '';
  for (let rest = nth; name.length < letters; rest = Math.floor(rest / 26))
    name += String.fromCharCode(65 + (rest % 26));
  return name;
}
