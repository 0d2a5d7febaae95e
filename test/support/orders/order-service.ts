import { copyFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { RegtestChain } from '#test/builders/regtest/regtest-chain.ts';
import { makeDataDir } from '#test/support/data-dir.ts';
import { createEmptyDatabase, createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { type Bitcoind, type BitcoindOptions, startBitcoind } from '#test/support/node/bitcoind.ts';
import { migrateServiceTo } from '#test/support/postgres/older-database.ts';
import { type CliProcess, type CliResult, runCli, startCli } from '#test/support/run-cli.ts';
import { waitUntil } from '#test/support/wait-until.ts';
import { loadChain, loadRows, type SavedService } from './saved/saved-service.ts';
import { copyServiceRows } from './service-rows.ts';
import { makeTestWallet } from './test-wallet.ts';

/**
 * How long a start may take on a busy machine, and how long the last order may take to reach its final state, in ms.
 */
const waitMs = 240_000;

/** Fields of an order's answer that tests use. */
export interface OrderShown {
  readonly id: string;
  readonly state: string;
  readonly error?: string;
  readonly charge: { readonly address: string; readonly amount: number };
  readonly files: readonly { readonly inscriptionId?: string }[];
}

/** A real node with `satscribe serve`, which tests may kill at any moment. */
export class OrderService {
  readonly bitcoind: Bitcoind;
  readonly chain: RegtestChain;
  readonly database: TestDatabase;
  readonly #folder: { path: string; remove(): Promise<void> };
  readonly #settings: Readonly<Record<string, string>>;
  #process: CliProcess | null = null;
  #origin = '';

  private constructor(
    bitcoind: Bitcoind,
    chain: RegtestChain,
    database: TestDatabase,
    folder: { path: string; remove(): Promise<void> },
    settings: Readonly<Record<string, string>>,
  ) {
    this.bitcoind = bitcoind;
    this.chain = chain;
    this.database = database;
    this.#folder = folder;
    this.#settings = settings;
  }

  /** @param settings added to the usual settings, or replacing them */
  static async start(
    settings: Readonly<Record<string, string>> = {},
    node: BitcoindOptions = {},
  ): Promise<OrderService> {
    const bitcoind = await startBitcoind(node);
    const chain = await RegtestChain.start(bitcoind.rpc, 230);
    const database = await createTestDatabase();
    const folder = await makeDataDir();
    const made = new OrderService(bitcoind, chain, database, folder, settings);
    await makeTestWallet(database.pool, made.seedFile);
    await made.begin();
    return made;
  }

  /** Restores a saved service, perhaps of an older version, with its own node. The service is not started. */
  static async saved(
    saved: SavedService,
    settings: Readonly<Record<string, string>> = {},
  ): Promise<OrderService> {
    const bitcoind = await startBitcoind();
    await loadChain(bitcoind.rpc, saved);
    // these coins are for payments, and are above all saved blocks
    const chain = await RegtestChain.start(bitcoind.rpc, 130);
    const database = await createEmptyDatabase();
    await migrateServiceTo(database.url, saved.migrations.length);
    await loadRows(database.superuserUrl, saved);
    const folder = await makeDataDir();
    const made = new OrderService(bitcoind, chain, database, folder, settings);
    await writeFile(made.seedFile, saved.seed, { mode: 0o600 });
    await writeFile(`${made.seedFile}.mark`, saved.mark, { mode: 0o600 });
    return made;
  }

  /**
   * Moves the service to an empty machine beside the same node. Copies the seed file, its mark and the rows of schema
   * `service`. The service is not started.
   */
  async elsewhere(): Promise<OrderService> {
    const database = await createTestDatabase();
    await copyServiceRows(this.database, database);
    const folder = await makeDataDir();
    const made = new OrderService(this.bitcoind, this.chain, database, folder, this.#settings);
    await copyFile(this.seedFile, made.seedFile);
    await copyFile(`${this.seedFile}.mark`, `${made.seedFile}.mark`);
    return made;
  }

  /** An empty machine beside the same node: neither rows nor a seed. It does not run yet. */
  async emptyElsewhere(): Promise<OrderService> {
    const database = await createEmptyDatabase();
    const folder = await makeDataDir();
    return new OrderService(this.bitcoind, this.chain, database, folder, this.#settings);
  }

  /** Its seed file, with the mark beside it. */
  get seedFile(): string {
    return join(this.#folder.path, 'seed');
  }

  /** Settings of its places. */
  get places(): Record<string, string> {
    return {
      WALLET_SEED_FILE: this.seedFile,
      FILES_DIR: join(this.#folder.path, 'files'),
      SERVICE_SECRET_FILE: join(this.#folder.path, 'secret'),
    };
  }

  /** Its log. */
  stderr(): string {
    return this.#process?.stderr() ?? '';
  }

  get origin(): string {
    return this.#origin;
  }

  /** Resolves when the process ends, for any reason. */
  get ended(): Promise<unknown> {
    return this.#process?.ended ?? Promise.resolve();
  }

  /** Starts the service. Settles once it answers. */
  async begin(settings: Readonly<Record<string, string>> = {}): Promise<void> {
    const { rpcUrl, cookieFile } = this.bitcoind;
    const words = ['serve', '--node', rpcUrl, '--cookie-file', cookieFile, '--port', '0'];
    this.#process = startCli(words, {
      ...this.database.settings,
      ...this.places,
      ORDER_RATE: '0',
      // the receivers of tests are on this machine
      ALLOW_PRIVATE_URLS: 'true',
      ...this.#settings,
      ...settings,
    });
    [, this.#origin = ''] = await this.#process.seen(/^ready (http:\/\/127\.0\.0\.1:\d+)\n$/u);
  }

  /** Lets the service kill itself at a failpoint while `meanwhile` runs. Settles once the service runs again. */
  async killedAt(failpoint: string, meanwhile: () => Promise<unknown>): Promise<void> {
    await this.kill();
    await this.begin({ FAILPOINT: `${failpoint}:1` });
    await meanwhile();
    const ended = await this.#process?.ended;
    if (ended?.signal !== 'SIGKILL') throw new Error(`it ended with ${ended?.exitCode}:\n${ended?.stderr}`);
    await this.begin();
  }

  /** Runs a command beside the service, with the same database, node and settings. */
  command(words: readonly string[], settings: Readonly<Record<string, string>> = {}): Promise<CliResult> {
    const { rpcUrl, cookieFile } = this.bitcoind;
    return runCli(words, {
      ...this.database.settings,
      BITCOIN_RPC_URL: rpcUrl,
      BITCOIN_COOKIE_FILE: cookieFile,
      ...this.places,
      ...this.#settings,
      ...settings,
    });
  }

  /** Kills the service at once. */
  async kill(): Promise<void> {
    this.#process?.child.kill('SIGKILL');
    await this.#process?.ended;
  }

  post(path: string, body: object): Promise<Response> {
    return fetch(new URL(path, this.#origin), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  }

  async order(id: string): Promise<OrderShown> {
    const answer = await fetch(new URL(`/order/${id}`, this.#origin));
    return (await answer.json()) as OrderShown;
  }

  eventually<Result>(check: () => Promise<Result>): Promise<Exclude<Result, false>> {
    return waitUntil(check, { limitMs: waitMs, everyMs: 200 });
  }

  async close(): Promise<void> {
    this.#process?.child.kill('SIGTERM');
    await this.#process?.ended;
    await this.bitcoind.remove();
    await this.database.drop();
    await this.#folder.remove();
  }
}
