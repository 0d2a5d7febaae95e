import { type ChildProcess, spawn } from 'node:child_process';
import { accessSync, constants, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { chmod, chown, cp, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { serverAccount } from '#embedded-postgres/server-account.ts';
import { freePort } from '#kernel/process/free-port.ts';
import { letsIn, secureConfig } from './elasticsearch-security.ts';

export interface ElasticsearchOptions {
  /** Size of the heap in megabytes. Default: 512, enough for some 100,000 documents. */
  readonly heapMegabytes?: number;
  /** Additional lines of elasticsearch.yml. */
  readonly extra?: readonly string[];
  /** Uses TLS, and only allows the account of ./elasticsearch-security.ts. */
  readonly isSecured?: boolean;
  /** Lets the server write snapshots, into repositories of the type `fs` with a relative `location`. */
  readonly hasSnapshots?: boolean;
  /** Default: free ports. */
  readonly ports?: ElasticsearchPorts;
  /** Whether other nodes start later. If so, the start does not wait until the node is ready. */
  readonly isOneOfMany?: boolean;
}

export interface ElasticsearchPorts {
  readonly http: number;
  readonly transport: number;
}

/** A real node with its own folder and ports. */
export interface Elasticsearch {
  readonly url: string;
  readonly dataDir: string;
  /** Settles when the node answers and its indices are allocated. */
  whenReady(): Promise<void>;
  /** Sends SIGTERM, and waits for the end. Folder and ports stay for `start`. */
  stop(): Promise<void>;
  /** SIGKILL. */
  kill(): Promise<void>;
  /** Freezes the node (SIGSTOP), like a machine that does not respond. `resume` continues it. */
  pause(): void;
  resume(): void;
  /** Starts the node again. Settles when it answers. */
  start(): Promise<void>;
  /** Stops the node and removes its folder. */
  remove(): Promise<void>;
}

// long enough for a cold start on a machine that also runs other suites
const startTimeoutMs = 170_000;
const missing = 'Elasticsearch is missing: its tests are skipped (scripts/install-elasticsearch.sh)';

/**
 * Whether suites of Elasticsearch can run. If the machine has no Elasticsearch, one line says so, and with CI=true it
 * is a failure, so that these suites are never skipped unnoticed.
 */
export function hasElasticsearch(): boolean {
  if (findProgram() !== null) return true;
  if (process.env['CI'] === 'true') throw new Error(missing);
  process.stderr.write(`${missing}\n`);
  return false;
}

/**
 * Finds the program that ELASTICSEARCH names (the path of bin/elasticsearch), or the installation of
 * scripts/install-elasticsearch.sh.
 */
function findProgram(): string | null {
  const given = process.env['ELASTICSEARCH'];
  if (given !== undefined && given !== '') return given;
  const cache = isRoot() ? '/var/cache' : (process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'));
  const program = join(cache, 'satscribe/elasticsearch/home/bin/elasticsearch');
  try {
    accessSync(program, constants.X_OK);
    return program;
  } catch {
    return null;
  }
}

const isRoot = (): boolean => process.getuid?.() === 0;

/** Starts a node. The node always ends with the test's process. */
export async function startElasticsearch(options: ElasticsearchOptions = {}): Promise<Elasticsearch> {
  const program = findProgram();
  if (program === null) throw new Error(missing);
  const node = new RunningElasticsearch(
    program,
    await mkdtemp(join(tmpdir(), 'satscribe-elastic-')),
    options,
  );
  await node.prepare();
  try {
    await node.start();
  } catch (error) {
    await node.remove();
    throw error;
  }
  return node;
}

export const freePorts = async (): Promise<ElasticsearchPorts> => ({
  http: await freePort(),
  transport: await freePort(),
});

class RunningElasticsearch implements Elasticsearch {
  readonly dataDir: string;
  #url = '';
  readonly #program: string;
  readonly #options: ElasticsearchOptions;
  #account: { uid: number; gid: number } | null = null;
  #child: ChildProcess | null = null;
  #output = '';
  readonly #atExit = (): void => {
    this.#signal('SIGKILL');
    rmSync(this.dataDir, { recursive: true, force: true });
  };

  constructor(program: string, dataDir: string, options: ElasticsearchOptions) {
    this.#program = program;
    this.dataDir = dataDir;
    this.#options = options;
    process.once('exit', this.#atExit);
  }

  get url(): string {
    return this.#url;
  }

  async prepare(): Promise<void> {
    const { http, transport } = this.#options.ports ?? (await freePorts());
    this.#url = `${this.#options.isSecured === true ? 'https' : 'http'}://127.0.0.1:${http}`;
    this.#account = await serverAccount(null);
    const seen = this.#seenDir;
    await cp(join(dirname(this.#program), '../config'), join(this.dataDir, 'config'), { recursive: true });
    for (const folder of ['data', 'logs', 'tmp', 'snapshots']) await mkdir(join(this.dataDir, folder));
    writeFileSync(
      join(this.dataDir, 'config/elasticsearch.yml'),
      [
        `http.port: ${http}`,
        `transport.port: ${transport}`,
        'network.host: 127.0.0.1',
        `path.data: ${seen}/data`,
        `path.logs: ${seen}/logs`,
        ...(this.#options.isSecured === true
          ? await secureConfig(join(this.dataDir, 'config'), `${seen}/config`)
          : ['xpack.security.enabled: false']),
        // a developer's disk is often fuller than the server allows
        'cluster.routing.allocation.disk.threshold_enabled: false',
        ...(this.#options.hasSnapshots === true ? [`path.repo: ${seen}/snapshots`] : []),
        ...(this.#options.extra ?? ['discovery.type: single-node']),
        '',
      ].join('\n'),
    );
    await this.#giveAway();
  }

  /** The path of the folder for the server. */
  get #seenDir(): string {
    return this.#needsNamespace ? '/tmp' : this.dataDir;
  }

  /**
   * Whether the server needs its own /tmp. The JVM puts a socket into /tmp even with another temporary folder, so an
   * account without write access to /tmp needs its own.
   */
  get #needsNamespace(): boolean {
    return isRoot() && (statSync('/tmp').mode & 0o002) === 0;
  }

  async #giveAway(): Promise<void> {
    await chmod(this.dataDir, 0o755);
    const account = this.#account;
    if (account === null) return;
    for (const path of ['', ...(await readdir(this.dataDir, { recursive: true }))]) {
      await chown(join(this.dataDir, path), account.uid, account.gid);
    }
  }

  async start(): Promise<void> {
    if (this.#child !== null) throw new Error('this Elasticsearch runs already');
    this.#output = '';
    const [command = '', ...flags] = this.#command();
    // in its own process group, because the program starts the server as another process
    const child = spawn(command, flags, {
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
      env: this.#environment(),
    });
    this.#child = child;
    child.once('exit', () => {
      if (this.#child === child) this.#child = null;
    });
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => {
        this.#output = (this.#output + chunk.toString()).slice(-4000);
      });
    }
    if (this.#options.isOneOfMany !== true) await this.whenReady();
  }

  #command(): string[] {
    const account = this.#account;
    if (account === null) return [this.#program];
    const drop = `setpriv --reuid ${account.uid} --regid ${account.gid} --clear-groups`;
    if (!this.#needsNamespace) return ['sh', '-c', `exec ${drop} "$0"`, this.#program];
    return [
      'unshare',
      '--mount',
      'sh',
      '-c',
      `mount --bind "$1" /tmp && exec ${drop} "$0"`,
      this.#program,
      this.dataDir,
    ];
  }

  #environment(): NodeJS.ProcessEnv {
    const { heapMegabytes } = this.#options;
    const heap = heapMegabytes ?? 512;
    // a server that runs only minutes loses more time in the second compiler than it saves
    const compiler = heapMegabytes === undefined ? ' -XX:TieredStopAtLevel=1' : '';
    const seen = this.#seenDir;
    const jdkFile = join(dirname(this.#program), '../../jdk');
    const jdk = process.env['ES_JAVA_HOME'] ?? readIfThere(jdkFile);
    return {
      PATH: process.env['PATH'],
      ...(jdk === null ? {} : { ES_JAVA_HOME: jdk }),
      ES_PATH_CONF: `${seen}/config`,
      ES_TMPDIR: `${seen}/tmp`,
      CLI_JAVA_OPTS: `-Djava.io.tmpdir=${seen}/tmp`,
      ES_JAVA_OPTS: `-Xms${heap}m -Xmx${heap}m${compiler}`,
    };
  }

  async whenReady(): Promise<void> {
    const deadline = Date.now() + startTimeoutMs;
    while (!(await this.#isReady())) {
      if (this.#child === null) throw new Error(`Elasticsearch ended: ${this.#output}`);
      if (Date.now() > deadline) throw new Error(`Elasticsearch did not start: ${this.#output}`);
      await delay(200);
    }
  }

  #isReady(): Promise<boolean> {
    if (this.#options.isSecured === true) return letsIn(this.#url, this.dataDir);
    return fetch(`${this.#url}/_cluster/health?wait_for_status=yellow&timeout=5s`).then(
      ({ ok }) => ok,
      () => false,
    );
  }

  #signal(signal: NodeJS.Signals): void {
    const pid = this.#child?.pid;
    if (pid === undefined) return;
    try {
      process.kill(-pid, signal);
    } catch {
      // the process has already ended
    }
  }

  pause(): void {
    this.#signal('SIGSTOP');
  }

  resume(): void {
    this.#signal('SIGCONT');
  }

  stop(): Promise<void> {
    return this.#end('SIGTERM');
  }

  kill(): Promise<void> {
    return this.#end('SIGKILL');
  }

  async #end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    const child = this.#child;
    if (child === null) return;
    const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
    this.#signal(signal);
    await ended;
  }

  async remove(): Promise<void> {
    await this.kill();
    process.off('exit', this.#atExit);
    await rm(this.dataDir, { recursive: true, force: true, maxRetries: 5 });
  }
}

function readIfThere(path: string): string | null {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    return null;
  }
}
