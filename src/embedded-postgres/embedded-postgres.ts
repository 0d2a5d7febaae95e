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
  /** Default: true. False gives up every guarantee for speed; use it only for temporary data. */
  readonly durable?: boolean;
  /** Called with notices, for example if the database is not in the data folder. */
  readonly log?: (message: string) => void;
}

/** Connection URLs of the database, one for each role. */
export interface RoleUrls {
  /** Connection URL of the writer, which owns the database. */
  readonly url: string;
  /** Connection URL of the role that answers requests. Migrations grant its rights (`ensureReaderRights`). */
  readonly readerUrl: string;
}

export interface EmbeddedPostgres extends RoleUrls {
  /**
   * Connection URL for work that the service itself never does, such as a connection to another database, or a
   * checkpoint.
   */
  readonly superuserUrl: string;
  readonly port: number;
  /** Whether the running server of a killed process was taken over. */
  readonly adopted: boolean;
  /** Whether the postmaster is running. */
  isRunning(this: void): Promise<boolean>;
  /** Restarts a server that died. It gets the same port, so `url` stays valid. Throws `postgres_start_failed`. */
  restart(this: void): Promise<void>;
  /** Stops the server and releases the data folder. Open transactions are rolled back. It may be called twice. */
  stop(this: void): Promise<void>;
}

/**
 * How long a start may take, in seconds. Recovery after a kill replays up to max_wal_size (4 GB), which takes minutes
 * on a slow disk.
 */
const startTimeoutSeconds = 300;
const stopTimeoutSeconds = 60;
/** Maximum number of attempts to find a port. A port that was free a moment ago may be taken by then. */
const portAttemptsMax = 5;

/**
 * Starts the Postgres server of a data folder, or takes over a server that a killed process left running. This process
 * owns the folder until `stop()`. The server is a separate process (pg_ctl), so it survives a crash of our process, and
 * the next start finds it. Throws `data_dir_busy`, `data_dir_unusable`, `postgres_version`, `postgres_unavailable` and
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
    // from this point on, other processes can find the server
    await writeConnectionFile(dataDir, connection);
    let stopping: Promise<void> | undefined;
    let postmaster = await seenProcess(connection);
    // This is called every second, so it checks the process itself and does not read the file with its number.
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
 * Connects to the server that another process runs in this data folder. Throws `postgres_not_running` if there is no
 * server, or if its owner was killed. No process would restart or stop such a server, so `startEmbeddedPostgres` takes
 * it over. The owner's `stop()` stops the server for all users.
 */
export async function attachEmbeddedPostgres(dataDir: string): Promise<RoleUrls> {
  const connection = await readConnectionFile(dataDir);
  const home = connection === null ? null : await existingHome(dataDir);
  // if a data folder was copied while in use, the file in the copy still names the server of the original
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
    const message = `This account cannot read the passwords of the running Postgres in ${home}.`;
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
  const message = `The account of the server cannot read the password file ${passwordFile(place.home, role)}.`;
  throw new AppError('data_dir_unusable', message, { home: place.home });
}

interface SeenProcess {
  readonly pid: number;
  readonly startedAt: string;
}

/**
 * The postmaster with its start time, which distinguishes it from later processes with the same number. `null` if it
 * has ended.
 */
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
 * Takes over a running server that a killed process left, if the server answers. Otherwise stops it. The lock proves
 * that its owner no longer runs.
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
    log(
      `a killed process left its Postgres running (process ${postmaster.pid}); this process now uses that Postgres`,
    );
    return connection;
  } catch {
    log(
      `a killed process left its Postgres running (process ${postmaster.pid}), but that Postgres does not answer; it is being stopped`,
    );
    await endServer(place);
    return null;
  }
}

/** Starts the server. If `onlyPort` is given, the server must get this port. */
async function startServer(place: ServerPlace, durable: boolean, onlyPort?: number): Promise<ConnectionFile> {
  await rotateLog(place);
  // This removes the pid file of a killed server. Postgres would otherwise consider a killed process as running until
  // its parent has waited for it.
  await runningPostmaster(place.files, place.clusterDir);
  let result: RunResult = { exitCode: 1, stdout: '', output: '' };
  for (let attempt = 0; attempt < portAttemptsMax; attempt++) {
    const logStart = await place.files.size(join(place.home, logFile));
    await writeSettings(place, onlyPort ?? (await freePort()), durable);
    // pg_ctl uses a shell, and no path may appear in its command line. The cluster's path is in the environment, and
    // the log's path is relative.
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
  // after an immediate stop, the next start recovers from the WAL, so no committed data is lost
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
