import { randomBytes } from 'node:crypto';
import { chown, mkdir, open, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { AppError } from '#kernel/errors/app-error.ts';
import { connectClient } from '#kernel/pg/pool.ts';
import {
  type ConnectionFile,
  connectionUrl,
  readConnectionFile,
  removeConnectionFile,
  writeConnectionFile,
} from './connection-file.ts';
import { type DataDirLock, takeDataDirLock } from './data-dir-lock.ts';
import { memoryBytes, sharedMemoryBytes } from './machine.ts';
import { type Postmaster, runningPostmaster } from './postmaster.ts';
import { type RunResult, runAs } from './server-account.ts';
import { existingHome, findServerPlace, type ServerPlace } from './server-place.ts';
import { renderSettings, serverSettings, sharedMemoryType } from './server-settings.ts';

export interface EmbeddedPostgresOptions {
  readonly dataDir: string;
  /** Default true. False drops every guarantee for speed: only for throw-away data. */
  readonly durable?: boolean;
  /** Called with notices, e.g. where the database is if not in the data folder. */
  readonly log?: (message: string) => void;
}

export interface EmbeddedPostgres {
  readonly url: string;
  readonly port: number;
  /** Took over the running server of a killed process. */
  readonly adopted: boolean;
  /** Whether its postmaster is running. */
  isRunning(this: void): Promise<boolean>;
  /** Restarts a server that died, on the same port: `url` stays valid. Throws `postgres_start_failed`. */
  restart(this: void): Promise<void>;
  /** Stops the server (open transactions are rolled back) and releases the data folder. Safe to call twice. */
  stop(this: void): Promise<void>;
}

const user = 'satscribe';
const database = 'satscribe';
const logFile = 'server.log';
/** A larger log is moved aside at start: at most two files of this size. */
const logMaxBytes = 8 * 1024 * 1024;
/** Recovery after a kill replays up to max_wal_size (4 GB): minutes on a slow disk. */
const startTimeoutSeconds = 300;
const stopTimeoutSeconds = 60;
/** Attempts to find a port: one that was free a moment ago may be taken. */
const portAttemptsMax = 5;

/**
 * Starts the Postgres of a data folder, or takes over the one that a killed process left running. This process owns
 * the folder until `stop()`. The server is a separate process (pg_ctl): it outlives a crash of ours, and the next
 * start finds it. Throws `data_dir_busy`, `data_dir_unusable`, `postgres_version`, `postgres_unavailable`,
 * `postgres_start_failed`.
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const { dataDir } = options;
  const log = options.log ?? (() => undefined);
  await makeDataDir(dataDir);
  const lock = await takeDataDirLock(dataDir);
  try {
    const place = await findServerPlace(dataDir, log);
    await ensureCluster(place);
    const adopted = await adoptOrEnd(place, dataDir, log);
    const connection = adopted ?? (await startServer(place, dataDir, options.durable ?? true));
    await ensureDatabase(connection);
    let stopping: Promise<void> | undefined;
    const isRunning = async (): Promise<boolean> => (await runningPostmaster(place.clusterDir)) !== null;
    return {
      isRunning,
      restart: async () => {
        if (stopping === undefined && !(await isRunning())) {
          await startServer(place, dataDir, options.durable ?? true, connection.port);
        }
      },
      url: await connectionUrl(connection),
      port: connection.port,
      adopted: adopted !== null,
      stop: () => {
        stopping ??= stopServer(place, dataDir, lock);
        return stopping;
      },
    };
  } catch (error) {
    await lock.release();
    throw asStartError(error, dataDir);
  }
}

/**
 * The server that another process runs in this data folder. Throws `postgres_not_running` where there is none. The
 * owner's `stop()` ends it for all users.
 */
export async function attachEmbeddedPostgres(dataDir: string): Promise<{ url: string }> {
  const connection = await ownConnection(dataDir);
  const postmaster = connection === null ? null : await runningPostmaster(connection.cluster);
  if (connection === null || postmaster === null) {
    const message = `No embedded Postgres runs in the data folder ${dataDir}.`;
    throw new AppError('postgres_not_running', message, { dataDir });
  }
  try {
    return { url: await connectionUrl(connection) };
  } catch (error) {
    const message = `The password file ${connection.passwordFile} of the running Postgres cannot be read by this account.`;
    throw new AppError('postgres_not_running', message, { dataDir }, error);
  }
}

/** In a copy of a data folder that was in use, the file leads to the server of the original. */
async function ownConnection(dataDir: string): Promise<ConnectionFile | null> {
  const connection = await readConnectionFile(dataDir);
  const home = connection === null ? null : await existingHome(dataDir);
  return home !== null && connection?.cluster === join(home, 'data') ? connection : null;
}

async function makeDataDir(dataDir: string): Promise<void> {
  try {
    await mkdir(dataDir, { recursive: true });
    const probe = join(dataDir, `.probe-${process.pid}`);
    await writeFile(probe, '');
    await rm(probe);
  } catch (error) {
    const message = `The data folder ${dataDir} cannot be used: ${(error as Error).message}`;
    throw new AppError('data_dir_unusable', message, { dataDir }, error);
  }
}

function asStartError(error: unknown, dataDir: string): unknown {
  if (error instanceof AppError) return error;
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS' || code === 'ENOSPC') {
    const text = `The data folder ${dataDir} cannot be used: ${message}`;
    return new AppError('data_dir_unusable', text, { dataDir }, error);
  }
  return error;
}

/**
 * Creates the cluster where there is none, completely or not at all. Throws `postgres_version` for a cluster of
 * another one.
 */
async function ensureCluster(place: ServerPlace): Promise<void> {
  const version = await readFile(join(place.clusterDir, 'PG_VERSION'), 'utf8').catch(() => null);
  if (version !== null) {
    if (version.trim() === place.major) return;
    const message = `The data in ${place.clusterDir} is of PostgreSQL ${version.trim()}; this program brings PostgreSQL ${place.major}.`;
    throw new AppError('postgres_version', message, { found: version.trim(), expected: place.major });
  }
  const passwordFile = join(place.home, 'password');
  await writeFile(passwordFile, `${randomBytes(24).toString('base64url')}\n`, { mode: 0o600 });
  if (place.account !== null) await chown(passwordFile, place.account.uid, place.account.gid);
  const unfinished = join(place.home, 'data.unfinished');
  await rm(unfinished, { recursive: true, force: true });
  const result = await runAs(
    place.account,
    join(place.binaries.root, 'bin', 'initdb'),
    [
      `--pgdata=${unfinished}`,
      `--username=${user}`,
      `--pwfile=${passwordFile}`,
      '--auth=scram-sha-256',
      '--encoding=UTF8',
      '--locale-provider=builtin',
      '--builtin-locale=C.UTF-8',
      '--locale=C',
      // initdb uses what a probe of one byte finds, and may fail on it
      `--set=dynamic_shared_memory_type=${sharedMemoryType(await sharedMemoryBytes())}`,
      '--no-instructions',
    ],
    { cwd: place.home },
  );
  if (result.exitCode !== 0) throw startFailed('initdb failed', result.output, place);
  await rename(unfinished, place.clusterDir);
}

/**
 * A running server was left by a killed process: the lock proves that no owner lives. It is taken over when it
 * answers, otherwise ended.
 */
async function adoptOrEnd(
  place: ServerPlace,
  dataDir: string,
  log: (message: string) => void,
): Promise<ConnectionFile | null> {
  const postmaster = await runningPostmaster(place.clusterDir);
  if (postmaster === null) return null;
  const connection = connectionTo(place, postmaster);
  try {
    const client = await connectClient(await maintenanceUrl(connection));
    await client.end();
    await writeConnectionFile(dataDir, connection);
    log(`the Postgres that a killed process left running (process ${postmaster.pid}) is taken over`);
    return connection;
  } catch {
    log(
      `the Postgres that a killed process left running (process ${postmaster.pid}) does not answer: it is stopped`,
    );
    await endServer(place);
    return null;
  }
}

/** `onlyPort`: no other port will do. */
async function startServer(
  place: ServerPlace,
  dataDir: string,
  durable: boolean,
  onlyPort?: number,
): Promise<ConnectionFile> {
  await rotateLog(place);
  let result: RunResult = { exitCode: 1, output: '' };
  for (let attempt = 0; attempt < portAttemptsMax; attempt++) {
    const logStart = await sizeOf(join(place.home, logFile));
    await writeSettings(place, onlyPort ?? (await freePort()), durable);
    // neither the path of the cluster nor of the log passes pg_ctl's shell: one is in the environment, one is
    // relative
    result = await pgCtl(place, [
      'start',
      '--wait',
      `--timeout=${startTimeoutSeconds}`,
      '--silent',
      `--log=${logFile}`,
    ]);
    const postmaster = result.exitCode === 0 ? await runningPostmaster(place.clusterDir) : null;
    if (postmaster !== null) {
      const connection = connectionTo(place, postmaster);
      await writeConnectionFile(dataDir, connection);
      return connection;
    }
    const logged = await readFrom(join(place.home, logFile), logStart);
    result = { exitCode: result.exitCode, output: `${result.output}\n${logged}` };
    if (onlyPort !== undefined || !/could not bind|Address already in use/u.test(logged)) break;
  }
  throw startFailed('Postgres did not start', result.output, place);
}

async function writeSettings(place: ServerPlace, port: number, durable: boolean): Promise<void> {
  const settings = serverSettings({
    port,
    memoryBytes: memoryBytes(),
    sharedMemoryBytes: await sharedMemoryBytes(),
    durable,
  });
  const path = join(place.clusterDir, 'postgresql.conf');
  await writeFile(path, renderSettings(settings), { mode: 0o600 });
  if (place.account !== null) await chown(path, place.account.uid, place.account.gid);
}

async function stopServer(place: ServerPlace, dataDir: string, lock: DataDirLock): Promise<void> {
  try {
    await removeConnectionFile(dataDir);
    await endServer(place);
  } finally {
    await lock.release();
  }
}

async function endServer(place: ServerPlace): Promise<void> {
  if ((await runningPostmaster(place.clusterDir)) === null) return;
  const wait = ['--wait', `--timeout=${stopTimeoutSeconds}`, '--silent'];
  const fast = await pgCtl(place, ['stop', '--mode=fast', ...wait]);
  // immediate: the next start recovers from the WAL, and nothing committed is lost
  if (fast.exitCode !== 0) await pgCtl(place, ['stop', '--mode=immediate', ...wait]);
}

function pgCtl(place: ServerPlace, parameters: readonly string[]): Promise<RunResult> {
  return runAs(place.account, join(place.binaries.root, 'bin', 'pg_ctl'), parameters, {
    cwd: place.home,
    env: { PGDATA: place.clusterDir },
    timeoutMs: (startTimeoutSeconds + 30) * 1000,
  });
}

function connectionTo(place: ServerPlace, postmaster: Postmaster): ConnectionFile {
  return {
    host: '127.0.0.1',
    port: postmaster.port,
    user,
    database,
    passwordFile: join(place.home, 'password'),
    serverPid: postmaster.pid,
    cluster: place.clusterDir,
    log: join(place.home, logFile),
  };
}

function maintenanceUrl(connection: ConnectionFile): Promise<string> {
  return connectionUrl({ ...connection, database: 'postgres' });
}

async function ensureDatabase(connection: ConnectionFile): Promise<void> {
  const client = await connectClient(await maintenanceUrl(connection));
  try {
    const { rowCount } = await client.query('SELECT FROM pg_database WHERE datname = $1', [database]);
    if (rowCount === 0) await client.query(`CREATE DATABASE ${database}`);
  } finally {
    await client.end();
  }
}

function startFailed(what: string, output: string, place: ServerPlace): AppError {
  const tail = output.trim().split('\n').slice(-12).join('\n');
  const log = join(place.home, logFile);
  return new AppError('postgres_start_failed', `${what} (log: ${log}):\n${tail}`, { log });
}

async function rotateLog(place: ServerPlace): Promise<void> {
  const path = join(place.home, logFile);
  if ((await sizeOf(path)) > logMaxBytes) await rename(path, `${path}.1`);
}

async function sizeOf(path: string): Promise<number> {
  return stat(path).then(
    ({ size }) => size,
    () => 0,
  );
}

async function readFrom(path: string, offset: number): Promise<string> {
  const file = await open(path).catch(() => null);
  if (file === null) return '';
  try {
    const { size } = await file.stat();
    const { buffer, bytesRead } = await file.read(Buffer.alloc(Math.max(0, size - offset)), 0, null, offset);
    return buffer.subarray(0, bytesRead).toString('utf8');
  } finally {
    await file.close();
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      const port = address !== null && typeof address === 'object' ? address.port : 0;
      server.close(() => resolve(port));
    });
  });
}
