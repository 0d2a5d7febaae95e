import type { Socket } from 'node:net';
import pg from 'pg';
import { clientConfig } from './connection/client-config.ts';
import { prepareSession, type SessionOptions } from './connection/session.ts';
import { databaseError } from './database-error.ts';

const int8Oid = 20;
const int8ArrayOid = 1016;

/**
 * Converts a bigint column to a number. Every bigint of this program (sats, times, totals) is below 2^53. A larger
 * value would be rounded silently, so this function throws, and the query fails.
 */
function int8ToNumber(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError(`bigint ${text} does not fit a number exactly`);
  return value;
}

function int8ArrayToNumbers(text: string): (number | null)[] {
  const inner = text.slice(1, -1);
  return inner === '' ? [] : inner.split(',').map((item) => (item === 'NULL' ? null : int8ToNumber(item)));
}

/**
 * Conversion of columns to values on all our connections. int8 is a number (see `int8ToNumber`), bytea is a Buffer, and
 * numeric is a string. Other types are as in `pg`. It is set per client, so that nothing changes for other users of
 * `pg`.
 */
const columnTypes: pg.CustomTypesConfig = {
  getTypeParser(oid: number, format?: 'text' | 'binary') {
    if (format !== 'binary') {
      if (oid === int8Oid) return int8ToNumber;
      if (oid === int8ArrayOid) return int8ArrayToNumbers;
    }
    return pg.types.getTypeParser(oid, format ?? 'text') as (value: string) => unknown;
  },
};

export interface PoolOptions extends Partial<SessionOptions> {
  /**
   * Maximum number of connections. The default is 10. This is more than two cores can serve at once, and far below the
   * server's own limit of 100.
   */
  readonly max?: number;
  /**
   * Whether each statement is sent immediately, even if earlier statements of the connection are not answered yet
   * (`together`). The default is false.
   */
  readonly isPipelined?: boolean;
  /**
   * Called with errors of idle connections, for example after a restart of the server. The pool then replaces the
   * connection.
   */
  readonly onError?: (error: Error) => void;
}

/**
 * How long a server may take to answer before it is treated as unreachable, in ms. A local server answers in
 * milliseconds.
 */
const connectTimeoutMs = 10_000;

const defaultName = 'satscribe';

/** A pool of connections to `url`. It connects at the first query. Throws `config_invalid`. */
export function createPool(url: string, options: PoolOptions = {}): pg.Pool {
  const applicationName = options.applicationName ?? defaultName;
  const pool = new pg.Pool({
    ...clientConfig(url),
    types: columnTypes,
    max: options.max ?? 10,
    application_name: applicationName,
    connectionTimeoutMillis: connectTimeoutMs,
    keepAlive: true,
    pipeline: options.isPipelined ?? false,
    // oxlint-disable-next-line typescript/no-misused-promises -- the pool waits for it, which its types do not say
    onConnect: (client: pg.ClientBase) => prepareSession(client, { ...options, applicationName }),
  });
  // Without a listener, an error on an idle connection would end the process. A server that this program runs may stop
  // while a pool that just ended is still disconnecting. Nothing is lost then.
  pool.on('error', (error) => {
    if (!pool.ending) options.onError?.(error);
  });
  // The pool listens only to idle connections. A connection that is lost while in use fails its query, but without this
  // listener the error would also end the process.
  pool.on('connect', (client) => client.on('error', () => undefined));
  return pool;
}

/** The socket of a connection, which the types of `pg` do not name. */
export const socketOf = (client: pg.ClientBase): Socket =>
  (client as pg.ClientBase & { readonly connection: { readonly stream: Socket } }).connection.stream;

/** Whether a connection sends each statement immediately. */
export const isPipelined = (client: pg.ClientBase): boolean => (client as pg.Client).pipeline;

/** Opens one connection outside any pool. Throws an AppError with the reason of a failure. */
export async function connectClient(url: string, applicationName = defaultName): Promise<pg.Client> {
  const client = new pg.Client({
    ...clientConfig(url),
    types: columnTypes,
    application_name: applicationName,
    connectionTimeoutMillis: connectTimeoutMs,
    keepAlive: true,
  });
  client.on('error', () => {
    // If a connection is lost, its running query fails by itself. If the connection is idle, nothing is lost.
  });
  try {
    await client.connect();
    await prepareSession(client, { applicationName });
  } catch (error) {
    void client.end().catch(() => undefined);
    throw databaseError(error, url);
  }
  return client;
}

/** The options of a pool that prepare a connection before its first use. */
interface Prepared {
  readonly onConnect: (client: pg.ClientBase) => Promise<void>;
}

/**
 * Opens one connection with the settings of a pool, outside of the pool. The connection sends each statement
 * immediately, even if earlier statements are not answered yet. Statements run in their order. If a statement in a
 * transaction fails, all later statements in the transaction fail too.
 */
export async function connectPipelined(pool: pg.Pool): Promise<pg.Client> {
  const { options } = pool as unknown as { readonly options: Omit<pg.PoolConfig, 'onConnect'> & Prepared };
  // the pool hides its password from enumeration
  const client = new pg.Client({ ...options, password: options.password, pipeline: true });
  // if the connection is lost, its statements fail
  client.on('error', () => undefined);
  await client.connect();
  try {
    await options.onConnect(client);
    // listeners of the pool's connections also get this connection
    pool.emit('connect', client);
  } catch (error) {
    void client.end();
    throw error;
  }
  return client;
}
