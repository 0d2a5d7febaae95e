import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError } from '#kernel/errors/app-error.ts';
import { systemFailure } from '#kernel/errors/system-failure.ts';
import { connectClient } from '#kernel/pg/pool.ts';
import { freePort } from '#kernel/process/free-port.ts';
import { ensureCluster, logFile, rotateLog, startFailed, writeSettings } from './cluster.ts';
import {
  type ConnectionFile,
  connectionUrl,
  readConnectionFile,
  removeConnectionFile,
  serverHost,
  writeConnectionFile,
} from './connection-file.ts';
import { type DataDirLock, hasOwner, takeDataDirLock } from './data-dir-lock.ts';
import { type Postmaster, runningPostmaster } from './postmaster.ts';
import { processStartedAt } from './processes.ts';
import {
  database,
  ensureRoles,
  passwordFile,
  type Role,
  reader,
  readPassword,
  superuser,
  writer,
} from './roles.ts';
import { type RunResult, runAs, shownText } from './server-account.ts';
import { existingHome, filesOfHome, findServerPlace, type ServerPlace } from './server-place.ts';

export interface EmbeddedPostgresOptions {
  readonly dataDir: string;
  /** Default true. False drops every guarantee for speed: only for throw-away data. */
  readonly durable?: boolean;
  /** Called with notices, e.g. the place of the database if it is not in the data folder. */
  readonly log?: (message: string) => void;
}

/** Addresses of the database, by the role that connects. */
export interface RoleUrls {
  /** Address of the writer, which owns the database. */
  readonly url: string;
  /** Address of the role that answers requests. Migrations grant its rights (`ensureReaderRights`). */
  readonly readerUrl: string;
}

export interface EmbeddedPostgres extends RoleUrls {
  /** Address for work that the service itself never does: a connection to another database, or a checkpoint. */
  readonly superuserUrl: string;
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
    const adopted = await adoptOrEnd(place, log);
    const connection = adopted ?? (await startServer(place, options.durable ?? true));
    const superuserPassword = await passwordOf(place, superuser);
    const superuserUrlOf = (name: string): string =>
      connectionUrl({ ...connection, database: name }, superuser, superuserPassword);
    await ensureRoles(place, superuserUrlOf);
    // from now on other processes find it
    await writeConnectionFile(dataDir, connection);
    let stopping: Promise<void> | undefined;
    let postmaster = await seenProcess(connection);
    // checked every second: it looks at the process itself, not at the file that names it
    const isRunning = async (): Promise<boolean> =>
      postmaster !== null && (await processStartedAt(postmaster.pid)) === postmaster.startedAt;
    return {
      isRunning,
      restart: async () => {
        if (stopping !== undefined || (await isRunning())) return;
        const again = await startServer(place, options.durable ?? true, connection.port);
        await writeConnectionFile(dataDir, again);
        postmaster = await seenProcess(again);
      },
      url: connectionUrl(connection, writer, await passwordOf(place, writer)),
      readerUrl: connectionUrl(connection, reader, await passwordOf(place, reader)),
      superuserUrl: superuserUrlOf(database),
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
 * The server that another process runs in this data folder. Throws `postgres_not_running` if there is none, or if its
 * owner was killed: no process would restart or end it, so `startEmbeddedPostgres` takes it over. The owner's `stop()`
 * ends it for all users.
 */
export async function attachEmbeddedPostgres(dataDir: string): Promise<RoleUrls> {
  const connection = await readConnectionFile(dataDir);
  const home = connection === null ? null : await existingHome(dataDir);
  // if a data folder is copied while in use, the file of the copy names the server of the original
  const isOwn = home !== null && connection?.cluster === join(home, 'data');
  const files = isOwn && (await hasOwner(dataDir)) ? await filesOfHome(home) : null;
  if (!isOwn || files === null || (await runningPostmaster(files, join(home, 'data'))) === null) {
    const message = `No embedded Postgres runs in the data folder ${dataDir}.`;
    throw new AppError('postgres_not_running', message, { dataDir });
  }
  const [writerPassword, readerPassword] = await Promise.all([
    readPassword({ files, home }, writer),
    readPassword({ files, home }, reader),
  ]);
  if (writerPassword === null || readerPassword === null) {
    const message = `The passwords of the running Postgres in ${home} cannot be read by this account.`;
    throw new AppError('postgres_not_running', message, { dataDir });
  }
  return {
    url: connectionUrl(connection, writer, writerPassword),
    readerUrl: connectionUrl(connection, reader, readerPassword),
  };
}

async function passwordOf(place: ServerPlace, role: Role): Promise<string> {
  const password = await readPassword(place, role);
  if (password !== null) return password;
  const message = `The password file ${passwordFile(place.home, role)} cannot be read by the account of the server.`;
  throw new AppError('data_dir_unusable', message, { home: place.home });
}

interface SeenProcess {
  readonly pid: number;
  readonly startedAt: string;
}

/** The postmaster, with the mark that distinguishes it from later processes with its number; null: it has ended. */
async function seenProcess({ serverPid: pid }: ConnectionFile): Promise<SeenProcess | null> {
  const startedAt = await processStartedAt(pid);
  return startedAt === null ? null : { pid, startedAt };
}

async function makeDataDir(dataDir: string): Promise<void> {
  try {
    await mkdir(dataDir, { recursive: true });
    const probe = join(dataDir, `.probe-${crypto.randomUUID()}`);
    await writeFile(probe, '', { flag: 'wx' });
    await rm(probe);
  } catch (error) {
    const message = `The data folder ${dataDir} cannot be used: ${(error as Error).message}`;
    throw new AppError('data_dir_unusable', message, { dataDir }, error);
  }
}

function asStartError(error: unknown, dataDir: string): unknown {
  const failure = systemFailure(error);
  if (!(failure instanceof AppError) || failure.code !== 'file_unusable') return failure;
  const text = `The data folder ${dataDir} cannot be used: ${(error as Error).message}`;
  return new AppError('data_dir_unusable', text, { dataDir }, error);
}

/**
 * Takes over or ends a running server that a killed process left: the lock proves that no owner lives. It is taken over
 * if it answers.
 */
async function adoptOrEnd(
  place: ServerPlace,
  log: (message: string) => void,
): Promise<ConnectionFile | null> {
  const postmaster = await runningPostmaster(place.files, place.clusterDir);
  if (postmaster === null) return null;
  const connection = connectionTo(place, postmaster);
  try {
    const password = await passwordOf(place, superuser);
    const url = connectionUrl({ ...connection, database: 'postgres' }, superuser, password);
    const client = await connectClient(url);
    await client.end();
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

/** Starts the server. `onlyPort`: the server must get this port. */
async function startServer(place: ServerPlace, durable: boolean, onlyPort?: number): Promise<ConnectionFile> {
  await rotateLog(place);
  // removes the file of a killed server: Postgres takes a process that no one has awaited yet for a running one
  await runningPostmaster(place.files, place.clusterDir);
  let result: RunResult = { exitCode: 1, stdout: '', output: '' };
  for (let attempt = 0; attempt < portAttemptsMax; attempt++) {
    const logStart = await place.files.size(join(place.home, logFile));
    await writeSettings(place, onlyPort ?? (await freePort()), durable);
    // pg_ctl's shell must see neither the path of the cluster nor that of the log: the first is in the environment, the
    // second is relative
    result = await pgCtl(place, [
      'start',
      '--wait',
      `--timeout=${startTimeoutSeconds}`,
      '--silent',
      `--log=${logFile}`,
    ]);
    const postmaster = result.exitCode === 0 ? await runningPostmaster(place.files, place.clusterDir) : null;
    if (postmaster !== null) return connectionTo(place, postmaster);
    const logged = shownText((await place.files.read(join(place.home, logFile), logStart)) ?? '');
    result = { ...result, output: `${result.output}\n${logged}` };
    if (onlyPort !== undefined || !/could not bind|Address already in use/u.test(logged)) break;
  }
  throw startFailed('Postgres did not start', result.output, place);
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
  if ((await runningPostmaster(place.files, place.clusterDir)) === null) return;
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
    host: serverHost,
    port: postmaster.port,
    user: writer,
    database,
    passwordFile: passwordFile(place.home, writer),
    reader: { user: reader, passwordFile: passwordFile(place.home, reader) },
    serverPid: postmaster.pid,
    cluster: place.clusterDir,
    log: join(place.home, logFile),
  };
}
