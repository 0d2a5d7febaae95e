import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { readConnectionFile } from '#embedded-postgres/connection-file.ts';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '#embedded-postgres/embedded-postgres.ts';
import { connectClient, createPool } from '#kernel/pg/pool.ts';
import { TcpProxy } from './tcp-proxy.ts';

// remains of a killed server disappear after some seconds
const startTriesMax = 40;
const startAgainMs = 500;

/** A real Postgres behind a proxy, to stop, crash and start it. */
export class ChaosDatabase {
  readonly proxy: TcpProxy;
  readonly #dataDir: string;
  #server: EmbeddedPostgres;
  /** Process id of the stopped WAL writer. Null if it is not stopped. */
  #walWriter: number | null = null;

  private constructor(dataDir: string, server: EmbeddedPostgres, proxy: TcpProxy) {
    this.#dataDir = dataDir;
    this.#server = server;
    this.proxy = proxy;
  }

  static async start(dataDir: string): Promise<ChaosDatabase> {
    const server = await startEmbeddedPostgres({ dataDir });
    return new ChaosDatabase(dataDir, server, await TcpProxy.listen(server.port));
  }

  /** URL of a database for its writer. Its connections go through the proxy. */
  proxied(name: string): string {
    return this.#throughProxy(addressOf(this.#server.url, name));
  }

  /** The settings of a service with a database. Its connections go through the proxy. */
  proxiedSettings(name: string): Record<string, string> {
    const { url, readerUrl } = this.#server;
    return {
      DATABASE_URL: this.#throughProxy(addressOf(url, name)),
      DATABASE_READER_URL: this.#throughProxy(addressOf(readerUrl, name)),
    };
  }

  /** URL of a database that bypasses the proxy. Valid until the server is stopped. */
  directUrl(name: string): string {
    return addressOf(this.#server.url, name).href;
  }

  /** Settings of a service that bypass the proxy. */
  directSettings(name: string): Record<string, string> {
    const readerUrl = addressOf(this.#server.readerUrl, name).href;
    return { DATABASE_URL: this.directUrl(name), DATABASE_READER_URL: readerUrl };
  }

  async create(name: string): Promise<void> {
    const owner = new URL(this.#server.url).username;
    await this.query('postgres', `CREATE DATABASE ${name} OWNER ${owner}`);
  }

  /** A pool of the test harness itself. It bypasses the proxy, and is valid until the server is stopped. */
  pool(name: string): pg.Pool {
    return createPool(this.directUrl(name), { applicationName: 'satscribe chaos' });
  }

  /** Runs one query as the superuser. It bypasses the proxy. */
  async query<Row extends pg.QueryResultRow>(name: string, text: string): Promise<Row[]> {
    const client = await connectClient(addressOf(this.#server.superuserUrl, name).href);
    try {
      return (await client.query<Row>(text)).rows;
    } finally {
      await client.end();
    }
  }

  /** Ends all connections to a database, except the connection that sends this query. */
  async terminate(name: string): Promise<void> {
    await this.query(
      name,
      'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
    );
  }

  /** Stops the server in order, and starts it again. The port of the proxy stays the same. */
  async restart(downMs: number): Promise<void> {
    await this.#server.stop();
    await delay(downMs);
    await this.#startAgain();
  }

  /**
   * Stops the WAL writer. Normally, this process writes commits to the disk some tenths of a second later. From now
   * until the next crash, a commit that does not wait for the disk reaches it only together with a commit that waits.
   */
  async stopWalWriter(): Promise<void> {
    const [row] = await this.query<{ pid: number }>(
      'postgres',
      `SELECT pid FROM pg_stat_activity WHERE backend_type = 'walwriter'`,
    );
    if (row === undefined) throw new Error('the database has no WAL writer');
    process.kill(row.pid, 'SIGSTOP');
    this.#walWriter = row.pid;
  }

  /** Lets a stopped WAL writer continue. Until then, statements such as DROP DATABASE wait for it. */
  continueWalWriter(): void {
    if (this.#walWriter !== null) process.kill(this.#walWriter, 'SIGCONT');
    this.#walWriter = null;
  }

  /** Ends the server without a checkpoint (SIGQUIT), or only its first process (SIGKILL). The next start recovers. */
  async crash(signal: 'SIGQUIT' | 'SIGKILL', downMs: number): Promise<void> {
    const connection = await readConnectionFile(this.#dataDir);
    if (connection === null) throw new Error('the database does not run');
    process.kill(connection.serverPid, signal);
    while (isAlive(connection.serverPid)) await delay(20);
    // a stopped process still uses the memory of its server
    if (this.#walWriter !== null) process.kill(this.#walWriter, 'SIGKILL');
    this.#walWriter = null;
    this.proxy.cut();
    await this.#server.stop();
    await delay(downMs);
    await this.#startAgain();
  }

  async stop(): Promise<void> {
    await this.proxy.close();
    await this.#server.stop();
  }

  #throughProxy(url: URL): string {
    url.port = String(this.proxy.port);
    return url.href;
  }

  async #startAgain(): Promise<void> {
    for (let tries = 1; ; tries++) {
      try {
        this.#server = await startEmbeddedPostgres({ dataDir: this.#dataDir });
        this.proxy.target = this.#server.port;
        return;
      } catch (error) {
        if (tries === startTriesMax) throw error;
        await delay(startAgainMs);
      }
    }
  }
}

/** URL of another database of the server, for the same role. */
function addressOf(url: string, name: string): URL {
  const address = new URL(url);
  address.pathname = `/${name}`;
  return address;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
