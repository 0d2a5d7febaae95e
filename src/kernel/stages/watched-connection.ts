import type { Socket } from 'node:net';
import { Stream } from 'node:stream';
import type pg from 'pg';
import { type IsMeant, Laps, mainTrack, stageClock } from './span.ts';
import type { StageRecorder } from './stage-recorder.ts';
import { type Notice, type StatementUsage, tellNothing, tellUsage, usageOf } from './statement-usage.ts';

/** Stages of statements by the beginning of their text. `$1` is the name of a table or index. */
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
 * Stage of statements on other connections of the indexer's pool. They are the sealer's statements, and a row of status
 * every few seconds.
 */
const backgroundStage = 'sealing, statements';

/** Whether a span is work of the main thread. This work may itself wait for the connection. */
const isMainsWork: IsMeant = ({ track, cpuMs }) => track === mainTrack && cpuMs !== null;

interface Statement {
  readonly text: string;
  readonly from: number;
  /** Number of bytes that were passed to the socket with the statement. */
  bytes: number;
  rows: number;
  /** The server's report about the statement so far. */
  usage: StatementUsage | null;
  /** True if rows are sent or received after the statement. */
  isStream: boolean;
}

/** The parts of pg's connection that are used here. Its events are the messages of the server. */
interface Messages {
  readonly stream: Pick<Socket, 'bytesRead' | 'bytesWritten'>;
  on(event: 'notice', listener: (notice: Notice) => void): void;
  on(event: 'commandComplete', listener: (message: { readonly text: string }) => void): void;
  on(event: 'readyForQuery', listener: () => void): void;
}
type Query = (this: unknown, ...args: unknown[]) => unknown;

/**
 * Records the statements of a connection. The server reports the duration and processor time of each statement, because
 * answers are read late while the main thread is busy, and then several at once. A statement begins when it is sent and
 * the previous statement has ended.
 *
 * If a server refuses the report (`tellUsage`), it is not asked again. The time between reads of answers is then
 * divided among the statements by the number of bytes that they sent, and their processor time is unknown.
 */
export class WatchedConnection {
  track: string;
  /** True for the two connections of the writer. */
  isWriter = false;
  readonly #recorder: StageRecorder;
  readonly #stream: Pick<Socket, 'bytesRead' | 'bytesWritten'>;
  /** Unanswered statements, in the order of their answers. An entry is null for a statement that this class sent. */
  readonly #sent: (Statement | null)[] = [];
  /** Statements whose answers arrived in the current read. */
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
      // if the server refuses, it is not asked again; if the connection is lost, the next statements fail
      await (query.call(client, text) as Promise<unknown>).catch(() => undefined);
    };
    this.#hook(client as unknown as { query: Query });
  }

  /**
   * Requests reports from the server. Statements may follow after its answer, or immediately on a pipelined connection.
   */
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
      // rows are copied to the socket during this call
      const laps = new Laps(this.isWriter);
      const result = query.apply(client, args);
      if (this.isWriter) {
        laps.lap('send', { bytes: this.#bytes - before });
        this.#recorder.laps(laps, mainTrack);
      }
      // a statement is sent immediately if the connection is free or pipelined
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

  /** Number of bytes passed to the socket so far, plus number of bytes received. */
  get #bytes(): number {
    return this.#stream.bytesWritten + this.#stream.bytesRead;
  }

  #told(usage: StatementUsage | null): void {
    const [statement] = this.#sent;
    if (usage === null || !statement) return;
    const { cpuMs, ms } = statement.usage ?? { cpuMs: 0, ms: 0 };
    statement.usage = { cpuMs: cpuMs + usage.cpuMs, ms: ms + usage.ms };
  }

  /** Handles the end of a command. Its tag ends with the number of its rows, if it has rows. */
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
    // runs after all answers of this read are handled
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

  /**
   * Records idle time of the server. Within a transaction, the server waited for the next statement, or for the last
   * answer to be read.
   */
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
