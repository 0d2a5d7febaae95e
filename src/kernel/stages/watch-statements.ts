import type { Socket } from 'node:net';
import { Stream } from 'node:stream';
import pg from 'pg';
import { familyCpuMs, parentOf, processCpuMs } from './process-times.ts';
import { readerTrack, stageClock, writerTrack } from './span.ts';
import type { StageRecorder } from './stage-recorder.ts';

/** Stages of statements, by their beginning. `$1` is the name of a table or index. */
const stages: readonly (readonly [pattern: RegExp, stage: string])[] = [
  [/^CREATE (?:UNIQUE )?INDEX (?:CONCURRENTLY )?(?:IF NOT EXISTS )?(\w+)/u, 'index $1'],
  [/^ANALYZE\b/u, 'analyze'],
];
const writerStages: readonly (readonly [pattern: RegExp, stage: string])[] = [
  [/^COPY (?:chain\.)?(\w+) \(/u, 'COPY $1'],
  [/^UPDATE chain\.locations\b/u, 'ends of locations'],
  [/^COMMIT\b/u, 'commit'],
  [/\bchain\.outbox/u, 'outbox'],
];

/** Statements of other connections of the indexer's pool: the sealer's, but for a row of status every few seconds. */
const backgroundStage = 'sealing, statements';

interface Statement {
  readonly text: string;
  readonly from: number;
  readonly rows: number;
  readonly bytes: number;
}

class WatchedConnection {
  track: string;
  /** It is one of the two connections of the writer. */
  isWriter = false;
  readonly #recorder: StageRecorder;
  readonly #pid: number | null;
  readonly #socket: Pick<Socket, 'bytesRead' | 'bytesWritten'> | null;
  #cpuMs: number | null = null;
  #endedAt = 0;

  constructor(recorder: StageRecorder, client: pg.ClientBase, isLocal: boolean) {
    const { connection } = client as unknown as { readonly connection?: { readonly stream?: Socket } };
    this.#recorder = recorder;
    this.#pid = isLocal ? processOf(client) : null;
    this.track = `connection ${processOf(client) ?? 0}`;
    this.#socket = connection?.stream ?? null;
    this.#cpuMs = this.#readCpu();
  }

  /** Bytes handed to the socket so far, and those that came. */
  get bytes(): number {
    return (this.#socket?.bytesWritten ?? 0) + (this.#socket?.bytesRead ?? 0);
  }

  /** A statement that was sent at `from` is answered. */
  done({ text, from, rows, bytes }: Statement): void {
    const to = stageClock();
    const before = this.#cpuMs;
    this.#cpuMs = this.#readCpu();
    const cpuMs = before === null || this.#cpuMs === null ? null : this.#cpuMs - before;
    // several statements may be under way: they run one after another
    const start = Math.max(from, this.#endedAt);
    this.#endedAt = to;
    if (start >= to) return;
    const stage = stageOf(text.trimStart(), this.isWriter);
    this.#recorder.statement({ stage, track: this.track, from: start, to, cpuMs, rows, bytes });
  }

  #readCpu(): number | null {
    return this.#pid === null ? null : processCpuMs(this.#pid);
  }
}

function stageOf(text: string, isWriter: boolean): string {
  const known = isWriter ? [...stages, ...writerStages] : stages;
  for (const [pattern, stage] of known) {
    const match = pattern.exec(text);
    if (match !== null) return stage.replace('$1', match[1] ?? '');
  }
  return isWriter ? 'other statements' : backgroundStage;
}

const watched = new WeakMap<pg.ClientBase, WatchedConnection>();

/** Names the two connections of a writer, if they are watched. */
export function nameConnections(writer: pg.ClientBase, reader: pg.ClientBase): void {
  const connections = [watched.get(writer), watched.get(reader)];
  for (const [at, track] of [writerTrack, readerTrack].entries()) {
    const connection = connections[at];
    if (connection === undefined) continue;
    connection.track = track;
    connection.isWriter = true;
  }
}

/**
 * Records the statements of all connections that a pool opens from now on, while the recorder is detailed.
 *
 * @param isLocal the server runs on this machine, so the processor time of its processes can be read
 */
export function watchStatements(pool: pg.Pool, recorder: StageRecorder, isLocal: boolean): void {
  let server: { readonly pid: number; readonly beforeMs: number } | null = null;
  recorder.readServer(() => {
    const now = server === null ? null : familyCpuMs(server.pid);
    return now === null || server === null ? null : now - server.beforeMs;
  });
  pool.on('connect', (client) => {
    if (!recorder.isDetailed) return;
    if (isLocal) server ??= serverOf(client);
    watchClient(client, recorder, isLocal);
  });
}

function serverOf(client: pg.ClientBase): { pid: number; beforeMs: number } | null {
  const pid = parentOf(processOf(client) ?? 0);
  const beforeMs = pid === null ? null : familyCpuMs(pid);
  return pid === null || beforeMs === null ? null : { pid, beforeMs };
}

/** The process of the server that answers a connection. */
function processOf(client: pg.ClientBase): number | null {
  return (client as unknown as { readonly processID: number | null }).processID;
}

type Query = (this: unknown, ...args: unknown[]) => unknown;

function watchClient(client: pg.ClientBase, recorder: StageRecorder, isLocal: boolean): void {
  const connection = new WatchedConnection(recorder, client, isLocal);
  watched.set(client, connection);
  const target = client as unknown as { query: Query };
  const query = target.query;
  target.query = function timed(...args) {
    if (!recorder.isDetailed) return query.apply(this, args);
    const [first] = args;
    const text = textOf(first);
    const from = stageClock();
    const before = connection.bytes;
    let sent = 0;
    const end = (answer: unknown): void => connection.done({ text, from, rows: rowsOf(answer), bytes: sent });
    const last = args.length - 1;
    if (typeof args[last] === 'function') args[last] = alsoCalling(args[last] as Callback, end);
    else if (first instanceof pg.Query) {
      const asked = first as unknown as { callback: Callback };
      asked.callback = alsoCalling(asked.callback, end);
    }
    const result = query.apply(this, args);
    // what a statement sends it sends at once, where the connection is free or pipelined
    sent = connection.bytes - before;
    if (result instanceof Promise) result.then(end, () => end(null));
    else if (result instanceof Stream) {
      result.once('close', () => {
        sent = connection.bytes - before;
        end(result);
      });
    }
    return result;
  };
}

type Callback = (error: unknown, answer: unknown) => void;

function alsoCalling(callback: Callback, end: (answer: unknown) => void): Callback {
  return (error, answer) => {
    end(answer);
    callback(error, answer);
  };
}

function textOf(query: unknown): string {
  if (typeof query === 'string') return query;
  return (query as { readonly text?: string } | null)?.text ?? '';
}

/** The answer of several statements in one text is a list. */
function rowsOf(answer: unknown): number {
  const { rowCount } = (answer ?? {}) as { readonly rowCount?: number | null };
  return rowCount ?? 0;
}
