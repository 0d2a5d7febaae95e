import type { Socket } from 'node:net';
import { Stream } from 'node:stream';
import type pg from 'pg';
import { type IsMeant, Laps, mainTrack, stageClock } from './span.ts';
import type { StageRecorder } from './stage-recorder.ts';
import { type Notice, type StatementUsage, tellNothing, tellUsage, usageOf } from './statement-usage.ts';

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
/**
 * Stage of statements on other connections of the indexer's pool: the sealer's, and a row of status every few seconds.
 */
const backgroundStage = 'sealing, statements';

/** The main thread's work. It may itself wait for the connection. */
const isMainsWork: IsMeant = ({ track, cpuMs }) => track === mainTrack && cpuMs !== null;

interface Statement {
  readonly text: string;
  readonly from: number;
  /** Bytes handed to the socket with it. */
  bytes: number;
  rows: number;
  /** The server's report so far. */
  usage: StatementUsage | null;
  /** Its rows are sent, or received, after it. */
  isStream: boolean;
}

/** Used parts of pg's connection: its events are the messages of the server. */
interface Messages {
  readonly stream: Pick<Socket, 'bytesRead' | 'bytesWritten'>;
  on(event: 'notice', listener: (notice: Notice) => void): void;
  on(event: 'commandComplete', listener: (message: { readonly text: string }) => void): void;
  on(event: 'readyForQuery', listener: () => void): void;
}
type Query = (this: unknown, ...args: unknown[]) => unknown;

/**
 * Records the statements of a connection. The server reports the duration and processor time of each: answers are read
 * late while the main thread is busy, and then several at once. A statement begins when it is sent and the previous one
 * has ended.
 *
 * A server that refuses the report (`tellUsage`) is not asked again. The time between reads of answers is then divided
 * among the statements by the bytes that they sent, and their processor time is unknown.
 */
export class WatchedConnection {
  track: string;
  /** It is one of the two connections of the writer. */
  isWriter = false;
  readonly #recorder: StageRecorder;
  readonly #stream: Pick<Socket, 'bytesRead' | 'bytesWritten'>;
  /** Unanswered statements, in the order of their answers; null: a statement of this class. */
  readonly #sent: (Statement | null)[] = [];
  /** Answers of one read. */
  #answered: Statement[] = [];
  #readAt = 0;
  #endedAt = 0;
  #isInTransaction = false;
  #isEnding = false;
  readonly #own: (text: string) => Promise<void>;

  constructor(recorder: StageRecorder, client: pg.ClientBase, track: string) {
    const { connection } = client as unknown as { readonly connection: Messages };
    this.#recorder = recorder;
    this.track = track;
    this.#stream = connection.stream;
    connection.on('notice', (notice) => this.#told(usageOf(notice)));
    connection.on('commandComplete', ({ text }) => this.#completed(text));
    connection.on('readyForQuery', () => this.#answer());
    const { query } = client as unknown as { query: Query };
    this.#own = async (text) => {
      this.#sent.push(null);
      // a server that refuses is not asked again, and a lost connection fails the next statements
      await (query.call(client, text) as Promise<unknown>).catch(() => undefined);
    };
    this.#hook(client as unknown as { query: Query });
  }

  /** Asks the server for reports. Statements may follow once it has answered, or at once on a pipelined connection. */
  begin(): Promise<void> {
    return this.#own(tellUsage);
  }

  #hook(client: { query: Query }): void {
    const { query } = client;
    const timed = (args: unknown[]): unknown => {
      const [first] = args;
      const before = this.#bytes;
      const text = textOf(first).trimStart();
      const statement: Statement = {
        text,
        from: stageClock(),
        bytes: 0,
        rows: 0,
        usage: null,
        isStream: false,
      };
      this.#sent.push(statement);
      // rows are copied to the socket meanwhile
      const laps = new Laps(this.isWriter);
      const result = query.apply(client, args);
      if (this.isWriter) {
        laps.lap('send', { bytes: this.#bytes - before });
        this.#recorder.laps(laps, mainTrack);
      }
      // a statement sends at once if the connection is free or pipelined
      statement.isStream = result instanceof Stream;
      statement.bytes = statement.isStream ? -before : this.#bytes - before;
      return result;
    };
    client.query = (...args): unknown => {
      if (this.#recorder.isDetailed) return timed(args);
      if (!this.#isEnding) {
        this.#isEnding = true;
        void this.#own(tellNothing);
      }
      return query.apply(client, args);
    };
  }

  /** Bytes handed to the socket so far, and bytes received. */
  get #bytes(): number {
    return this.#stream.bytesWritten + this.#stream.bytesRead;
  }

  #told(usage: StatementUsage | null): void {
    const [statement] = this.#sent;
    if (usage === null || !statement) return;
    const { cpuMs, ms } = statement.usage ?? { cpuMs: 0, ms: 0 };
    statement.usage = { cpuMs: cpuMs + usage.cpuMs, ms: ms + usage.ms };
  }

  /** The tag of a command ends with the number of its rows, if it has any. */
  #completed(tag: string): void {
    const [statement] = this.#sent;
    if (statement) statement.rows = Number(/(?<!\d)\d+$/u.exec(tag)?.[0] ?? 0);
  }

  #answer(): void {
    const statement = this.#sent.shift();
    if (!statement) return;
    if (statement.isStream) statement.bytes += this.#bytes;
    this.#answered.push(statement);
    if (this.#answered.length > 1) return;
    this.#readAt = stageClock();
    // runs when all answers of this read are handled
    queueMicrotask(() => this.#record());
  }

  #record(): void {
    const [answered, readAt] = [this.#answered, this.#readAt];
    this.#answered = [];
    const from = Math.max(answered[0]?.from ?? 0, this.#endedAt);
    const untold = answered.filter(({ usage }) => usage === null);
    const toldMs = answered.reduce((sum, { usage }) => sum + (usage?.ms ?? 0), 0);
    const untoldBytes = untold.reduce((sum, { bytes }) => sum + bytes + 1, 0);
    const msPerByte = Math.max(0, readAt - from - toldMs) / untoldBytes;
    for (const { text, bytes, rows, usage, ...statement } of answered) {
      const start = Math.max(statement.from, this.#endedAt);
      const to = Math.min(readAt, start + (usage?.ms ?? (bytes + 1) * msPerByte));
      this.#idleUntil(start);
      const [stage, track] = [stageOf(text, this.isWriter), this.track];
      this.#recorder.statement({ stage, track, from: start, to, cpuMs: usage?.cpuMs ?? null, rows, bytes });
      this.#endedAt = to;
      if (/^BEGIN\b/u.test(text)) this.#isInTransaction = true;
      if (/^(?:COMMIT|ROLLBACK)\b/u.test(text)) {
        this.#idleUntil(readAt);
        this.#isInTransaction = false;
      }
    }
  }

  /** Within a transaction the server waited for the next statement, or its last answer to be read. */
  #idleUntil(to: number): void {
    if (!this.isWriter || !this.#isInTransaction) return;
    const wait = { stage: 'write', track: this.track, from: this.#endedAt, to };
    this.#recorder.waited({ ...wait, on: [isMainsWork], otherwise: 'round trips, processors' });
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

function textOf(query: unknown): string {
  if (typeof query === 'string') return query;
  return (query as { readonly text?: string } | null)?.text ?? '';
}
