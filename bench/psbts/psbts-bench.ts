import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { pubECDSA } from '@scure/btc-signer/utils.js';
import { scriptToAddress } from '#kernel/bitcoin/address.ts';
import { networks } from '#kernel/primitives/network.ts';
import { type AddressType, privateKey, typedAddress } from '#test/builders/regtest/regtest-address.ts';
import { RegtestChain } from '#test/builders/regtest/regtest-chain.ts';
import { transaction } from '#test/builders/regtest/regtest-transaction.ts';
import type { Bitcoind } from '#test/support/node/bitcoind.ts';
import { withBenchNode } from '../bench-node.ts';
import { nodeSettings, SatscribeProcess } from '../follow/satscribe-process.ts';
import { loopLag } from '../loop-lag.ts';
import { numberOption } from '../options.ts';
import type { Figure, Report } from '../report.ts';
import { median, percentile } from '../statistics.ts';

const payer = 901;
const collector = 902;
const clients = 4;
/** Number of outputs in one transaction. With P2WPKH outputs it stays below 100,000 virtual bytes. */
const outputsEach = 2_500;
/**
 * Smallest value of an output and the step to the next value, in sats. The largest output alone pays for a small order;
 * a large order needs many outputs.
 */
const least = 1_000;
const step = 7;
const largeShare = 0.1;
const scans = 3;
const waitMs = 120_000;

/**
 * Measures PSBTs that pay for an order from an address with many outputs. Returns the time of a response with the index
 * of addresses, with only the list of these outputs as baseline, and with scans of the node.
 */
export async function psbtsBench(args: string[]): Promise<Report> {
  const { values } = parseArgs({
    args,
    options: {
      outputs: { type: 'string', default: '5000' },
      builds: { type: 'string', default: '200' },
    },
  });
  const outputs = numberOption('outputs', values.outputs, 1);
  const builds = numberOption('builds', values.builds, 10);
  return withBenchNode('psbts', async (node, dir) => {
    const chain = await RegtestChain.start(node.rpc, 130);
    await fill(chain, outputs);
    const indexed = await withService(node, join(dir, 'indexed'), ['--index-addresses'], (payers) =>
      payers.measure(builds, outputs),
    );
    const scanned = await withService(node, join(dir, 'scanned'), [], (payers) => payers.scan());
    return {
      bench: 'psbts',
      notes: [
        `create-special-sats-psbt for a P2WPKH address with ${outputs} outputs; real node, embedded Postgres`,
        `${builds} PSBTs of each kind, one after the other, and by ${clients} clients at once (…Of${clients})`,
        'large: a charge that takes a tenth of the outputs; list: GET /mempool/api/address/…/utxo, the baseline',
        'scan: without an index of addresses, the first answer for an address since the last block; busy: another one meanwhile',
      ],
      figures: [...indexed, ...scanned],
      details: [],
    };
  });
}

const valueAt = (place: number): number => least + step * place;

async function fill(chain: RegtestChain, outputs: number): Promise<void> {
  const { script } = typedAddress(payer, 'p2wpkh');
  for (let from = 0; from < outputs; from += outputsEach) {
    const count = Math.min(outputsEach, outputs - from);
    const paid = Array.from({ length: count }, (_, at) => ({
      value: valueAt(from + at),
      outputScript: script,
    }));
    const coin = await chain.coin();
    const spent = paid.reduce((sum, { value }) => sum + value, 0);
    await chain.broadcast(transaction([coin], [...paid, { value: coin.value - spent - 400_000 }]));
    await chain.mineMempool();
  }
}

async function withService<Value>(
  node: Bitcoind,
  data: string,
  flags: readonly string[],
  work: (payers: Payers) => Promise<Value>,
): Promise<Value> {
  const env = {
    ...nodeSettings(node),
    WALLET_SEED_FILE: join(data, 'seed'),
    ORDER_RATE: '0',
    BUILD_ADDRESS_RATE: '0',
  };
  const service = await SatscribeProcess.start(['serve', '--port', '0', ...flags], data, env);
  try {
    const origin = await service.ready();
    const init = await SatscribeProcess.start(['wallet', 'init'], data, env);
    await init.success();
    return await work(await Payers.open(origin));
  } finally {
    await service.stop();
  }
}

interface Answer {
  readonly status: number;
  readonly ms: number;
  readonly text: string;
}

/** Customers of a service who request PSBTs. */
class Payers {
  readonly #origin: string;
  readonly #order: { readonly address: string; readonly amount: number };

  private constructor(origin: string, order: { readonly address: string; readonly amount: number }) {
    this.#origin = origin;
    this.#order = order;
  }

  /** Waits until the process has found the wallet and the chain, and accepts orders. */
  static async open(origin: string): Promise<Payers> {
    const until = performance.now() + waitMs;
    for (;;) {
      const { status, text } = await post(origin, '/order', {
        files: [{ name: 'a.txt', size: 5, dataURL: 'data:text/plain;base64,aGVsbG8=' }],
        receiveAddress: addressOf(collector, 'p2tr'),
        fee: 2,
      });
      if (status === 200) {
        const { charge } = JSON.parse(text) as { charge: { address: string; amount: number } };
        return new Payers(origin, charge);
      }
      if (performance.now() > until) throw new Error(`an order was answered ${status}: ${text}`);
      await sleep(500);
    }
  }

  async measure(builds: number, outputs: number): Promise<Figure[]> {
    const large = Math.ceil(outputs * largeShare);
    const largeCharge = Array.from({ length: large }, (_, at) => valueAt(outputs - 1 - at)).reduce(
      (sum, value) => sum + value,
      0,
    );
    const list = await this.#times(builds, () => this.#list());
    await loopLag(this.#origin);
    const small = await this.#times(builds, () => this.#build(this.#order.amount));
    const together = (
      await Promise.all(
        Array.from({ length: clients }, () =>
          this.#times(Math.ceil(builds / clients), () => this.#build(this.#order.amount)),
        ),
      )
    ).flat();
    const { p99Ms, longestMs } = await loopLag(this.#origin);
    const many = await this.#times(Math.ceil(builds / 10), () => this.#build(Math.floor(largeCharge * 0.9)));
    const afterLarge = await loopLag(this.#origin);
    return [
      { name: 'listP95Ms', value: percentile(list, 0.95), unit: 'ms' },
      { name: 'buildMedianMs', value: median(small), unit: 'ms' },
      { name: 'buildP95Ms', value: percentile(small, 0.95), unit: 'ms', target: { most: 300 } },
      {
        name: `buildP95MsOf${clients}`,
        value: percentile(together, 0.95),
        unit: 'ms',
        target: { most: 300 },
      },
      { name: 'buildLoopP99Ms', value: p99Ms, unit: 'ms', target: { most: 50 } },
      { name: 'buildLoopLongestMs', value: longestMs, unit: 'ms' },
      { name: 'largeBuildP95Ms', value: percentile(many, 0.95), unit: 'ms' },
      { name: 'largeBuildLoopP99Ms', value: afterLarge.p99Ms, unit: 'ms', target: { most: 50 } },
    ];
  }

  async scan(): Promise<Figure[]> {
    const first: number[] = [];
    let busy = 0;
    for (let round = 0; round < scans; round++) {
      const asked = this.#build(this.#order.amount);
      // requests with another address while the node scans
      const other = await post(this.#origin, '/create-special-sats-psbt', {
        ...this.#body(this.#order.amount),
        ...signerOf('payment', payer + 100 + round),
      });
      if (other.status === 503) busy++;
      first.push((await asked).ms);
    }
    return [
      { name: 'scanFirstMs', value: first[0] ?? Number.NaN, unit: 'ms' },
      { name: 'scanBusyAnswers', value: busy, unit: '' },
    ];
  }

  async #times(count: number, ask: () => Promise<Answer>): Promise<number[]> {
    const times: number[] = [];
    while (times.length < count) times.push((await ask()).ms);
    return times;
  }

  async #list(): Promise<Answer> {
    const at = performance.now();
    const answer = await fetch(`${this.#origin}/mempool/api/address/${addressOf(payer, 'p2wpkh')}/utxo`);
    const text = await answer.text();
    return expectOk({ status: answer.status, text, ms: performance.now() - at });
  }

  async #build(chargeAmount: number): Promise<Answer> {
    return expectOk(await post(this.#origin, '/create-special-sats-psbt', this.#body(chargeAmount)));
  }

  #body(chargeAmount: number): object {
    return {
      chargeAmount,
      fundingAddress: this.#order.address,
      ...signerOf('payment', payer),
      ...signerOf('ordinal', collector),
      feeRate: 2,
    };
  }
}

const addressOf = (owner: number, type: AddressType): string =>
  scriptToAddress(typedAddress(owner, type).script, networks.regtest) ?? '';

const signerOf = (role: 'payment' | 'ordinal', owner: number): Readonly<Record<string, string>> => ({
  [`${role}Address`]: addressOf(owner, role === 'payment' ? 'p2wpkh' : 'p2tr'),
  [`${role}PublicKey`]: Buffer.from(pubECDSA(privateKey(owner))).toString('hex'),
});

async function post(origin: string, path: string, body: object): Promise<Answer> {
  const at = performance.now();
  const answer = await fetch(`${origin}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const text = await answer.text();
  return { status: answer.status, text, ms: performance.now() - at };
}

function expectOk(answer: Answer): Answer {
  if (answer.status === 200) return answer;
  throw new Error(`a PSBT was answered ${answer.status}: ${answer.text.slice(0, 500)}`);
}
