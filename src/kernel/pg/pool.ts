import pg from 'pg';
import { clientConfig } from './connection/client-config.ts';
import { prepareSession, type SessionOptions } from './connection/session.ts';
import { databaseError } from './database-error.ts';

const int8Oid = 20;
const int8ArrayOid = 1016;

/**
 * A bigint column as a number. Every bigint of ours (sats, times, totals) is below 2^53. A larger value would be
 * rounded silently, so this function throws, and the query fails.
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
 * Conversion of columns to values on all our connections: int8 is a number (see `int8ToNumber`), bytea a Buffer,
 * numeric a string, the rest as `pg` has it. Per client, so that nothing global changes under other users of `pg`.
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
   * Maximum number of connections. Default 10: more than two cores can serve at once, and far below the server's own
   * limit of 100.
   */
  readonly max?: number;
  /** Called with errors of idle connections (a restarted server); the pool replaces the connection by itself. */
  readonly onError?: (error: Error) => void;
}

/**
 * How long a server may take to answer until it is treated as unreachable, in ms. A local server answers in
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
    // oxlint-disable-next-line typescript/no-misused-promises -- the pool waits for it, which its types do not say
    onConnect: (client: pg.ClientBase) => prepareSession(client, { ...options, applicationName }),
  });
  // Without a listener an error on an idle connection would end the process. Our own server may stop before a pool that
  // ended just before has disconnected: nothing is lost then.
  pool.on('error', (error) => {
    if (!pool.ending) options.onError?.(error);
  });
  // The pool listens to idle connections only. A connection lost in use fails its query, and would end the process too.
  pool.on('connect', (client) => client.on('error', () => undefined));
  return pool;
}

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
    // The query that runs on a lost connection fails by itself; an idle one has nothing to lose.
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

/** A pool's preparation of a connection before it lends it. */
interface Prepared {
  readonly onConnect: (client: pg.ClientBase) => Promise<void>;
}

/**
 * Opens one connection with the settings of a pool, outside of the pool. The connection sends each statement
 * immediately, whether or not earlier statements were answered. Statements run in their order. A statement in a
 * transaction in which an earlier one has failed fails too.
 */
export async function connectPipelined(pool: pg.Pool): Promise<pg.Client> {
  const { options } = pool as unknown as { readonly options: Omit<pg.PoolConfig, 'onConnect'> & Prepared };
  // the pool hides its password from enumeration
  const client = new pg.Client({ ...options, password: options.password, pipeline: true });
  // a lost connection fails its statements
  client.on('error', () => undefined);
  await client.connect();
  try {
    await options.onConnect(client);
    // listeners of the pool's connections listen to this one too
    pool.emit('connect', client);
  } catch (error) {
    void client.end();
    throw error;
  }
  return client;
}
