import pg from 'pg';
import { databaseError } from './database-error.ts';

const int8Oid = 20;
const int8ArrayOid = 1016;

/**
 * A bigint column as a number. Every bigint of ours (sats, times, totals) is below 2^53; a larger one would be
 * rounded silently, so it throws, and the query fails.
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
 * How columns become values on every connection of ours: int8 is a number (see `int8ToNumber`), bytea a Buffer,
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

export interface PoolOptions {
  /** Maximum number of connections. 10: more than two cores can serve at once, and far below the server's own 100. */
  readonly max?: number;
  /** Shown in pg_stat_activity. */
  readonly applicationName?: string;
  /** The server ends a statement that takes longer; absent: no limit (the writer's index builds take minutes). */
  readonly statementTimeoutMs?: number;
  /** Its transactions cannot write, whatever its role may do. */
  readonly readOnly?: boolean;
  /** Called with errors of idle connections (a restarted server); the pool replaces the connection by itself. */
  readonly onError?: (error: Error) => void;
}

/** A server that does not answer within this time counts as unreachable: a local one answers in milliseconds. */
const connectTimeoutMs = 10_000;

/** How often the server checks, while a statement runs, that its client is still connected. */
const connectionCheckMs = 1_000;

/** A pool of connections to `url`. It connects at the first query. */
export function createPool(url: string, options: PoolOptions = {}): pg.Pool {
  const pool = new pg.Pool({
    connectionString: url,
    types: columnTypes,
    max: options.max ?? 10,
    application_name: options.applicationName ?? 'satscribe',
    connectionTimeoutMillis: connectTimeoutMs,
    keepAlive: true,
    ...(options.statementTimeoutMs === undefined ? {} : { statement_timeout: options.statementTimeoutMs }),
    ...(options.statementTimeoutMs === undefined && options.readOnly !== true
      ? {}
      : {
          // oxlint-disable-next-line typescript/no-misused-promises -- the pool waits for it, which its types do not say
          onConnect: (client: pg.ClientBase) => prepareReads(client, options),
        }),
  });
  // Without a listener an error on an idle connection would end the process. A server of ours may stop faster than a
  // pool that ended just before says goodbye: nothing is lost then.
  pool.on('error', (error) => {
    if (!pool.ending) options.onError?.(error);
  });
  // The pool listens to idle connections only: one that is lost in use fails its query, and would end the process too.
  pool.on('connect', (client) => client.on('error', () => undefined));
  return pool;
}

/**
 * A client that leaves must not keep a statement running; where the server cannot check, its time limit ends the
 * statement.
 */
async function prepareReads(
  client: pg.ClientBase,
  { readOnly = false, statementTimeoutMs }: PoolOptions,
): Promise<void> {
  // not as a parameter of the connection, which the address may override
  if (readOnly) await client.query('SET default_transaction_read_only = on');
  if (statementTimeoutMs === undefined) return;
  await client.query(`SET client_connection_check_interval = ${connectionCheckMs}`).catch(() => undefined);
}

/** Opens one connection outside any pool. Throws an AppError with the reason of a failure. */
export async function connectClient(url: string, applicationName = 'satscribe'): Promise<pg.Client> {
  const client = new pg.Client({
    connectionString: url,
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
  } catch (error) {
    throw databaseError(error, url);
  }
  return client;
}

/**
 * Opens one connection with the settings of a pool, outside of it, that sends each statement at once, whether or not
 * those before it were answered. They run in their order. A statement in a transaction in which an earlier one has
 * failed fails too.
 */
export async function connectPipelined(pool: pg.Pool): Promise<pg.Client> {
  const { options } = pool;
  // the pool hides its password from enumeration
  const client = new pg.Client({ ...options, password: options.password, pipeline: true });
  // a lost connection fails its statements
  client.on('error', () => undefined);
  await client.connect();
  try {
    // what listens to the connections of the pool listens to this one too
    pool.emit('connect', client);
  } catch (error) {
    void client.end();
    throw error;
  }
  return client;
}
