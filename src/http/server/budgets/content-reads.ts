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
  /** Reads that run at once. */
  readonly running?: number;
  /** Requests that wait for their first read. */
  readonly waiting?: number;
  /** The longest wait for a first read, in milliseconds. */
  readonly waitMs?: number;
  /** Bodies of more than one piece that are being sent. */
  readonly sending?: number;
  /** Such bodies of one client. */
  readonly sendingEach?: number;
}

/**
 * Connections for contents. A read takes a millisecond, and most of that is work of the database: more than two
 * connections for each of two cores would only wait for each other.
 */
export const contentConnections = 4;
/** Reads of one client while others read too: even one keeps the database busy on one of two cores. */
const eachBesideOthers = 1;
/** All requests that are being answered: a request is refused only after its wait, never because of their number. */
const waitingDefault = limits.requests;
/** A page that shows nothing for this long is reloaded. */
const waitMsDefault = 5_000;
/**
 * Bytes of one read: 130 chunks of a table, in about a millisecond. Each body that is being sent holds up to two
 * pieces: one in the socket, and the next one.
 */
export const pieceBytes = 256 * 1024;
/** Each holds twice 256 KiB, so 64 MiB together. Nearly all bodies are one piece, and are not counted. */
const sendingDefault = 128;
/** The large pictures of a page, over HTTP/2. Four such clients take all places. */
const sendingEachDefault = 32;

/**
 * Reads contents, and further pieces of any answer. It has connections of its own, so that these reads never keep other
 * answers waiting. A limited number of requests waits for a first read; more are refused (`contents_busy`). Long bodies
 * are read in pieces, the next one after the client has taken the previous one: between two pieces a body holds no
 * connection.
 */
export class ContentReads {
  readonly #pool: pg.Pool;
  readonly #gate: FairGate;
  /** Reads of further pieces. */
  readonly #pieces: FairGate;
  readonly #sending: Shares;

  constructor(pool: pg.Pool, options: ContentReadsOptions = {}) {
    const { running = contentConnections, waiting = waitingDefault, waitMs = waitMsDefault } = options;
    this.#pool = pool;
    const total = options.sending ?? sendingDefault;
    this.#gate = new FairGate({ running, eachBesideOthers, waiting, waitMs, refusal: contentsBusy });
    // an answer that has begun is never refused: each connection has at most one, and it waits for its client anyway
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

  /** Requests that wait for a first read. */
  get waiting(): QueueState {
    return this.#gate.state;
  }

  /** Bodies of more than one piece that are being sent. */
  get sending(): QueueState {
    return this.#sending.state;
  }

  /** Counts a client that asks for something else among the clients that read. */
  sees(client: string): void {
    this.#gate.sees(client);
    this.#pieces.sees(client);
  }

  /** Runs a look-up, or reads at most `pieceBytes`. Throws `contents_busy`, and the reason of an aborted signal. */
  async read<T>(asker: Asker, work: (client: pg.ClientBase) => Promise<T>): Promise<T> {
    return this.#gate.run(asker, () => withCutConnection(this.#pool, asker.signal, work));
  }

  /** Reads a further piece of an answer that has begun. Throws the reason of an aborted signal. */
  async readPiece<T>(asker: Asker, work: (client: pg.ClientBase) => Promise<T>): Promise<T> {
    return this.#pieces.run(asker, () => withCutConnection(this.#pool, asker.signal, work));
  }

  /**
   * The bytes of a part of a body, in pieces. The first piece is read before this returns, so that its failure can
   * still be answered. If a reorganisation removes the body later, the pieces end with an error. A body of several
   * pieces holds a place until its answer is sent or abandoned.
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
  // the length comes from the stored bytes, so a shorter part is not a part of them
  if (piece === null || piece.length !== part.count) {
    throw new AppError('not_found', 'this inscription no longer has a content');
  }
  return piece;
}

/** The error when too many requests read contents. */
export function contentsBusy(): AppError {
  return new AppError('contents_busy', 'too many contents are being read: try again in a few seconds');
}
