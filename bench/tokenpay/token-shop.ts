import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { Agent, request } from 'undici';
import { attachEmbeddedPostgres } from '#embedded-postgres/embedded-postgres.ts';
import { asRune } from '#kernel/runes/rune.ts';
import { plainEtching } from '#kernel/runes/runestone/artifact.ts';
import { encipher } from '#kernel/runes/runestone/encipher.ts';
import { formatSpacedRune } from '#kernel/runes/spaced-rune.ts';
import { asU128 } from '#kernel/runes/u128.ts';
import type { RegtestChain } from '#test/builders/regtest/regtest-chain.ts';
import { type Coin, type NewOutput, transaction } from '#test/builders/regtest/regtest-transaction.ts';
import { giveKey } from '#test/support/http/search-access.ts';
import type { Bitcoind } from '#test/support/node/bitcoind.ts';
import { clients } from '../clients.ts';
import { nodeSettings, SatscribeProcess } from '../follow/satscribe-process.ts';

const waitMs = 120_000;
const lookMs = 20;
const agent = new Agent({ connections: clients, headersTimeout: waitMs, bodyTimeout: waitMs });
const supply = 10n ** 20n;

/** A new order with the data that the bench needs to pay it. */
export interface BenchOrder {
  readonly id: string;
  readonly feeCharge: { readonly address: string; readonly amount: number };
  readonly tokenCharge: { readonly address: string };
}

/** A service that accepts payments in a rune. It has accounts of many shops, and one receiver of webhooks. */
export class TokenShop {
  readonly origin: string;
  readonly pool: pg.Pool;
  readonly chain: RegtestChain;
  /** API keys of the accounts. */
  readonly keys: string[] = [];
  readonly #service: SatscribeProcess;
  readonly #hooks: Server;
  /** Callbacks for the first webhook of each order, by the path of the webhook's URL. They get its arrival time. */
  readonly #heard = new Map<string, (at: number) => void>();
  #rune = { name: '', block: 0, tx: 0 };
  /** The output that holds all remaining units. */
  #purse: Coin;

  private constructor(parts: {
    origin: string;
    pool: pg.Pool;
    chain: RegtestChain;
    service: SatscribeProcess;
    hooks: Server;
    purse: Coin;
  }) {
    this.origin = parts.origin;
    this.pool = parts.pool;
    this.chain = parts.chain;
    this.#service = parts.service;
    this.#hooks = parts.hooks;
    this.#purse = parts.purse;
    this.#hooks.on('request', (received, answer) => {
      this.#heard.get(received.url ?? '')?.(performance.now());
      this.#heard.delete(received.url ?? '');
      received.resume();
      answer.end();
    });
  }

  static async open(node: Bitcoind, chain: RegtestChain, dir: string, accounts: number): Promise<TokenShop> {
    const dataDir = join(dir, 'data');
    const env = {
      ...nodeSettings(node),
      WALLET_SEED_FILE: join(dir, 'seed'),
      INDEX_RUNES: 'true',
      TOKENPAY_CONFIRMATIONS: '1',
      ALLOW_PRIVATE_URLS: 'true',
    };
    const service = await SatscribeProcess.start(['serve', '--port', '0'], dataDir, env);
    const origin = await service.ready();
    const init = await SatscribeProcess.start(['wallet', 'init'], dataDir, env);
    await init.success();
    const { url } = await attachEmbeddedPostgres(dataDir);
    const hooks = createServer();
    await new Promise<void>((done) => {
      hooks.listen(0, '127.0.0.1', done);
    });
    const pool = new pg.Pool({ connectionString: url, max: 2 });
    const shop = new TokenShop({ origin, pool, chain, service, hooks, purse: await chain.coin() });
    for (let nth = 0; nth < accounts; nth++)
      shop.keys.push((await giveKey(pool, { scopes: ['tokenpay', 'tokenpay-withdraw'], rate: '0' })).key);
    await shop.#etch();
    return shop;
  }

  /** The process of the service. */
  get pid(): number {
    return this.#service.pid;
  }

  async close(): Promise<void> {
    await this.pool.end();
    await this.#service.stop();
    this.#hooks.close();
  }

  /** Sends a request that must succeed. Settles with the response. */
  async ask<Answer>(method: 'GET' | 'POST', path: string, nth: number, body?: object): Promise<Answer> {
    const { status, text } = await this.#send(method, path, nth, body);
    assert(status === 200, `${path} was answered ${status}: ${text.slice(0, 300)}`);
    return JSON.parse(text) as Answer;
  }

  order(nth: number, more: object = {}): Promise<BenchOrder> {
    const body = { token: this.#rune.name, amount: 5, ...more };
    return this.ask<BenchOrder>('POST', '/tokenpay/user/order/rune', nth, body);
  }

  /** Makes a URL for webhooks. `heard` settles with the time at which the first webhook arrives. */
  hook(name: string): { readonly url: string; readonly heard: Promise<number> } {
    const { port } = this.#hooks.address() as AddressInfo;
    const path = `/${name}`;
    const heard = new Promise<number>((done) => this.#heard.set(path, done));
    return { url: `http://127.0.0.1:${port}${path}`, heard };
  }

  /** Reserves 2 units of the rune, or 5,000 sats, for an address. */
  withdraw(nth: number, kind: 'rune' | 'bitcoin', address: string): Promise<{ readonly id: string }> {
    const what =
      kind === 'rune' ? { token: this.#rune.name, amount: 2 } : { token: 'BTC', amount: '0.00005000' };
    return this.ask('POST', '/tokenpay/user/account/withdraw', nth, { protocol: kind, address, ...what });
  }

  /** A transaction that pays 5 units to each script, and sats to the outputs of fees. */
  payment(scripts: readonly Uint8Array[], fees: readonly NewOutput[] = []) {
    const { block, tx } = this.#rune;
    const edicts = scripts.map((_, place) => ({
      id: { block: asU128(block), tx },
      amount: asU128(5),
      output: place + 1,
    }));
    const stone = encipher({ kind: 'runestone', edicts, etching: null, mint: null, pointer: 0 });
    const units = scripts.map((outputScript) => ({ value: 546, outputScript }));
    return this.#spend([...units, ...fees], stone);
  }

  async scriptOf(address: string): Promise<Uint8Array> {
    const { scriptPubKey } = await this.chain.rpc.call<{ scriptPubKey: string }>('validateaddress', [
      address,
    ]);
    return Buffer.from(scriptPubKey, 'hex');
  }

  /** Waits until a count in the database is reached. Settles with the time. */
  async until(sql: string, values: readonly unknown[], count: number): Promise<number> {
    const end = performance.now() + waitMs;
    for (;;) {
      const { rows } = await this.pool.query<{ count: number }>(sql, [...values]);
      if ((rows[0]?.count ?? 0) >= count) return performance.now();
      if (performance.now() > end) throw new Error(`not reached in time: ${sql}`);
      await sleep(lookMs);
    }
  }

  #spend(outputs: readonly NewOutput[], outputScript: Uint8Array) {
    const fee = 200 * (outputs.length + 10);
    const rest = outputs.reduce((left, { value }) => left - value, this.#purse.value - fee);
    const made = transaction([this.#purse], [{ value: rest }, ...outputs, { value: 0, outputScript }]);
    this.#purse = made.coin(0);
    return made;
  }

  /** Etches the rune, and waits until orders are accepted. */
  async #etch(): Promise<void> {
    const etching = { ...plainEtching, premine: asU128(supply) };
    const stone = encipher({ kind: 'runestone', edicts: [], etching, mint: null, pointer: 0 });
    const { height } = await this.chain.mine([this.#spend([], stone)]);
    await this.until('SELECT count(*)::integer AS count FROM chain.runes WHERE height = $1', [height], 1);
    const { rows } = await this.pool.query<{ rune: string; spacers: number; tx_index: number }>(
      'SELECT rune::text, spacers, tx_index FROM chain.runes WHERE height = $1',
      [height],
    );
    const [row] = rows;
    assert(row !== undefined, 'the rune is etched');
    const name = formatSpacedRune({ rune: asRune(BigInt(row.rune)), spacers: row.spacers });
    this.#rune = { name, block: height, tx: row.tx_index };
    const until = performance.now() + waitMs;
    for (;;) {
      const { status, text } = await this.#send('POST', '/tokenpay/user/order/rune', 0, {
        token: name,
        amount: 1,
      });
      if (status === 200) return;
      if (status !== 503 || performance.now() > until) throw new Error(`no orders are taken: ${text}`);
      await sleep(500);
    }
  }

  async #send(method: 'GET' | 'POST', path: string, nth: number, body?: object) {
    const answer = await request(`${this.origin}${path}`, {
      method,
      dispatcher: agent,
      headers: {
        'x-api-key': this.keys[nth % this.keys.length] ?? '',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: answer.statusCode, text: await answer.body.text() };
  }
}
