import type pg from 'pg';
import { type BodyPart, readBodyPart, type StoredBody } from '#chain/inscriptions/content.queries.ts';
import { limits } from '#http/server/limits.ts';
import { FairGate } from '#kernel/concurrency/fair-gate.ts';
import type { Asker } from '#kernel/contracts/asker.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { withCutConnection } from '#kernel/pg/cut-connection.ts';
import type { QueueState } from '#kernel/reports/metrics.ts';
import { Shares } from './shares.ts';

export interface ContentReadsOptions {
  /** Maximum number of reads that run at the same time. */
  readonly running?: number;
  /** Maximum number of requests that wait for their first read. */
  readonly waiting?: number;
  /** How long a request waits for its first read at most, in ms. */
  readonly waitMs?: number;
  /** Maximum number of bodies of more than one piece that are being sent. */
  readonly sending?: number;
  /** Maximum number of bodies of more than one piece that are being sent to one client. */
  readonly sendingEach?: number;
}

/**
 * Number of database connections for contents. A read takes one millisecond, mostly in the database. On two cores, more
 * than two connections per core would only wait for each other.
 */
export const contentConnections = 4;
/**
 * Maximum number of reads of one client while other clients read too. Even one read keeps one of two database cores
 * busy.
 */
const eachBesideOthers = 1;
/**
 * Maximum number of waiting requests. It equals the maximum number of requests being answered. So a request is refused
 * only after it has waited for `waitMs`, never because too many requests wait.
 */
const waitingDefault = limits.requests;
/**
 * How long a request waits for its first read at most, in ms. Readers reload a page that shows nothing for this long.
 */
const waitMsDefault = 5_000;
/**
 * Maximum number of bytes of one read. Such a read takes 130 chunks of a table, in about one millisecond. Each body
 * that is being sent holds up to two pieces. One piece is in the socket, and the other is the next piece.
 */
export const pieceBytes = 256 * 1024;
/**
 * Maximum number of bodies of several pieces that are sent at the same time. Each body holds twice 256 KiB, so all
 * bodies hold 64 MiB. Nearly all bodies have only one piece, and do not count.
 */
const sendingDefault = 128;
/**
 * Maximum number of bodies of several pieces that are sent to one client at the same time. It is enough for the large
 * pictures of one page over HTTP/2. Four such clients reach the maximum of all clients.
 */
const sendingEachDefault = 32;

/**
 * Reads contents, and further pieces of any answer, over separate database connections, so that these reads never delay
 * other answers. A limited number of requests waits for a first read; further requests are refused (`contents_busy`).
 * Long bodies are read in pieces. The next piece is read after the client has received the previous piece, so a body
 * holds no connection between two pieces.
 */
export class ContentReads {
  readonly #pool: pg.Pool;
  readonly #gate: FairGate;
  /** The gate for reads of further pieces. */
  readonly #pieces: FairGate;
  readonly #sending: Shares;

  constructor(pool: pg.Pool, options: ContentReadsOptions = {}) {
    const { running = contentConnections, waiting = waitingDefault, waitMs = waitMsDefault } = options;
    this.#pool = pool;
    const total = options.sending ?? sendingDefault;
    this.#gate = new FairGate({ running, eachBesideOthers, waiting, waitMs, refusal: contentsBusy });
    // these bounds never refuse an answer that has begun, because each connection has at most one answer, and the
    // answer waits for its client anyway
    const patience = { waiting: limits.connections, waitMs: limits.requestTimeoutMs };
    this.#pieces = new FairGate({
      running: contentConnections,
      eachBesideOthers,
      restsBesideOthers: limits.restsBesideOthers,
      ...patience,
      refusal: contentsBusy,
    });
    const each = options.sendingEach ?? sendingEachDefault;
    this.#sending = new Shares({ what: 'long contents', total, each, full: contentsBusy });
  }

  /** Number of requests that wait for a first read, and the limit of this number. */
  get waiting(): QueueState {
    return this.#gate.state;
  }

  /** Number of bodies of more than one piece that are being sent, and the limit of this number. */
  get sending(): QueueState {
    return this.#sending.state;
  }

  /** Tells the gates that a client is active, even if the client does not read contents. */
  sees(client: string): void {
    this.#gate.sees(client);
    this.#pieces.sees(client);
  }

  /** Runs a short query, or reads at most `pieceBytes`. Throws `contents_busy`, and the reason of an aborted signal. */
  async read<T>(asker: Asker, work: (client: pg.ClientBase) => Promise<T>): Promise<T> {
    return this.#gate.run(asker, () => withCutConnection(this.#pool, asker.signal, work));
  }

  /** Reads a further piece of an answer that has begun. Throws the reason of an aborted signal. */
  async readPiece<T>(asker: Asker, work: (client: pg.ClientBase) => Promise<T>): Promise<T> {
    return this.#pieces.run(asker, () => withCutConnection(this.#pool, asker.signal, work));
  }

  /**
   * Reads a part of a body in pieces. The first piece is read before this returns, so that a failure of this first read
   * can still become an error answer. If a reorganisation removes the body later, the pieces end with an error. A body
   * of several pieces counts in `sending` until its answer is sent or abandoned.
   */
  async pieces(
    asker: Asker,
    body: StoredBody,
    { from, count }: BodyPart,
  ): Promise<AsyncIterable<Buffer> | Iterable<Buffer>> {
    asker.signal.throwIfAborted();
    if (count > pieceBytes) this.#sending.take(asker);
    const first = await this.read(asker, (client) =>
      partOfBody(client, body, { from, count: Math.min(count, pieceBytes) }),
    );
    if (count <= pieceBytes) return [first];
    return this.#allPieces(asker, body, { from, count }, first);
  }

  async *#allPieces(
    asker: Asker,
    body: StoredBody,
    { from, count }: BodyPart,
    first: Buffer,
  ): AsyncGenerator<Buffer> {
    yield first;
    for (let sent = first.length; sent < count; ) {
      const part = { from: from + sent, count: Math.min(count - sent, pieceBytes) };
      const piece = await this.readPiece(asker, (client) => partOfBody(client, body, part));
      yield piece;
      sent += piece.length;
    }
  }
}

async function partOfBody(client: pg.ClientBase, body: StoredBody, part: BodyPart): Promise<Buffer> {
  const piece = await readBodyPart(client, body, part);
  // the requested length comes from the stored bytes, so a shorter part means that the bytes were deleted
  if (piece === null || piece.length !== part.count) {
    throw new AppError('not_found', 'this inscription no longer has a content');
  }
  return piece;
}

/** The error when too many requests read contents. */
export function contentsBusy(): AppError {
  return new AppError('contents_busy', 'too many contents are being read; try again in a few seconds');
}
