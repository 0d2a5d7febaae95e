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

  private constructor(dataDir: string, server: EmbeddedPostgres, proxy: TcpProxy) {
    this.#dataDir = dataDir;
    this.#server = server;
    this.proxy = proxy;
  }

  static async start(dataDir: string): Promise<ChaosDatabase> {
    const server = await startEmbeddedPostgres({ dataDir });
    return new ChaosDatabase(dataDir, server, await TcpProxy.listen(server.port));
  }

  /** URL of a database through the proxy. */
  proxied(name: string): string {
    const url = this.#direct(name);
    url.port = String(this.proxy.port);
    return url.href;
  }

  /** Bypasses the proxy. Valid until the server is stopped. */
  directUrl(name: string): string {
    return this.#direct(name).href;
  }

  async create(name: string): Promise<void> {
    const client = await connectClient(this.#direct('postgres').href);
    try {
      await client.query(`CREATE DATABASE ${name}`);
    } finally {
      await client.end();
    }
  }

  /** A pool of the harness itself that bypasses the proxy. Valid until the server is stopped. */
  pool(name: string): pg.Pool {
    return createPool(this.#direct(name).href, { applicationName: 'satscribe chaos' });
  }

  /** One query that bypasses the proxy. */
  async query<Row extends pg.QueryResultRow>(name: string, text: string): Promise<Row[]> {
    const client = await connectClient(this.#direct(name).href);
    try {
      return (await client.query<Row>(text)).rows;
    } finally {
      await client.end();
    }
  }

  /** Ends all connections of a database except its own, as an operator does. */
  async terminate(name: string): Promise<void> {
    await this.query(
      name,
      'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
    );
  }

  /** Stops it in order, and starts it again behind the same port of the proxy. */
  async restart(downMs: number): Promise<void> {
    await this.#server.stop();
    await delay(downMs);
    await this.#startAgain();
  }

  /** Ends it without a checkpoint (SIGQUIT), or only its first process (SIGKILL): the next start recovers. */
  async crash(signal: 'SIGQUIT' | 'SIGKILL', downMs: number): Promise<void> {
    const connection = await readConnectionFile(this.#dataDir);
    if (connection === null) throw new Error('the database does not run');
    process.kill(connection.serverPid, signal);
    while (isAlive(connection.serverPid)) await delay(20);
    this.proxy.cut();
    await this.#server.stop();
    await delay(downMs);
    await this.#startAgain();
  }

  async stop(): Promise<void> {
    await this.proxy.close();
    await this.#server.stop();
  }

  #direct(name: string): URL {
    const url = new URL(this.#server.url);
    url.pathname = `/${name}`;
    return url;
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

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
