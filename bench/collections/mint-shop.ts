import assert from 'node:assert/strict';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { Agent, request } from 'undici';
import { attachEmbeddedPostgres } from '#embedded-postgres/embedded-postgres.ts';
import type { Bitcoind } from '#test/support/node/bitcoind.ts';
import { runCli } from '#test/support/run-cli.ts';
import { clients } from '../clients.ts';
import { nodeSettings, SatscribeProcess } from '../follow/satscribe-process.ts';
import { buyerAddress } from './buyers.ts';

const waitMs = 120_000;
/** Timeouts in ms. They are long, because on a busy machine the response to a list of 100,000 addresses comes late. */
const timeouts = { headersTimeout: waitMs, bodyTimeout: waitMs };
const shopAgent = new Agent({ connections: clients, ...timeouts });

/** Makes connections from another IP address of this machine, because reads are limited by IP address. */
export const agentFrom = (client: number): Agent =>
  new Agent({ connections: 1, localAddress: `127.0.1.${1 + client}`, ...timeouts });

/** A service with a wallet that sells collections, the operator's commands, and a shop with an API key. */
export class MintShop {
  readonly origin: string;
  readonly pool: pg.Pool;
  readonly #process: SatscribeProcess;
  readonly #env: Readonly<Record<string, string>>;
  readonly #key: string;

  private constructor(
    origin: string,
    pool: pg.Pool,
    process: SatscribeProcess,
    env: Readonly<Record<string, string>>,
    key: string,
  ) {
    this.origin = origin;
    this.pool = pool;
    this.#process = process;
    this.#env = env;
    this.#key = key;
  }

  static async open(node: Bitcoind, dir: string): Promise<MintShop> {
    const dataDir = join(dir, 'data');
    const env = {
      ...nodeSettings(node),
      WALLET_SEED_FILE: join(dir, 'seed'),
      ORDER_RATE: '0',
    };
    const service = await SatscribeProcess.start(['serve', '--port', '0'], dataDir, env);
    const origin = await service.ready();
    const init = await SatscribeProcess.start(['wallet', 'init'], dataDir, env);
    await init.success();
    const operator = { ...env, DATA_DIR: dataDir };
    await command(operator, ['accounts', 'create', 'shop']);
    const create = 'keys create --account shop --scope orders --rate 0 --json';
    const made = await command(operator, create.split(' '));
    const { key } = JSON.parse(made) as { key: string };
    const { url } = await attachEmbeddedPostgres(dataDir);
    const shop = new MintShop(origin, new pg.Pool({ connectionString: url, max: 2 }), service, operator, key);
    await shop.#untilOpen();
    return shop;
  }

  get pid(): number {
    return this.#process.pid;
  }

  /** Sends a POST request with the shop's key. */
  async post(path: string, body: object, from = shopAgent): Promise<{ status: number; text: string }> {
    const answer = await request(`${this.origin}${path}`, {
      method: 'POST',
      dispatcher: from,
      headers: { 'content-type': 'application/json', 'x-api-key': this.#key },
      body: JSON.stringify(body),
    });
    return { status: answer.statusCode, text: await answer.body.text() };
  }

  /** Sends a POST request that must succeed. Returns the response. */
  async made<Answer>(path: string, body: object, from = shopAgent): Promise<Answer> {
    const { status, text } = await this.post(path, body, from);
    assert(status === 200, `${path} was answered ${status}: ${text.slice(0, 500)}`);
    return JSON.parse(text) as Answer;
  }

  /** Runs a command of the operator that must succeed. Returns its output. */
  command(words: readonly string[]): Promise<string> {
    return command(this.#env, words);
  }

  /** Runs a command of the operator. Returns the number of progress lines that it prints. */
  async progressOf(words: readonly string[]): Promise<number> {
    const { exitCode, stderr } = await runCli(words, this.#env);
    assert(exitCode === 0, `satscribe ${words.join(' ')} ended with ${exitCode}: ${stderr}`);
    return stderr.split('\n').filter((line) => line !== '').length;
  }

  async close(): Promise<void> {
    await this.pool.end();
    await this.#process.stop();
  }

  /** Waits until the process has found the wallet and accepts orders. */
  async #untilOpen(): Promise<void> {
    const until = performance.now() + waitMs;
    for (;;) {
      const { status, text } = await this.post('/order', smallOrder(buyerAddress(0)));
      if (status === 200) return;
      if (status !== 503 || performance.now() > until) throw new Error(`no orders are taken: ${text}`);
      await sleep(1000);
    }
  }
}

/** An order of one small file. No other order has the same contents. */
export function smallOrder(receiveAddress: string): object {
  const content = Buffer.from(`file ${Math.random()}`).toString('base64');
  return {
    files: [{ name: 'a.txt', size: 20, dataURL: `data:text/plain;base64,${content}` }],
    receiveAddress,
    fee: 2,
  };
}

async function command(env: Readonly<Record<string, string>>, words: readonly string[]): Promise<string> {
  const { exitCode, stdout, stderr } = await runCli(words, env);
  assert(exitCode === 0, `satscribe ${words.join(' ')} ended with ${exitCode}: ${stderr}`);
  return stdout;
}
