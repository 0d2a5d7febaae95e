import { Readable } from 'node:stream';
import { nextTurn } from '#kernel/concurrency/turns.ts';

/**
 * Characters of a piece: large enough to be cheap (each takes a turn of the event loop). A connection buffers this much
 * of an answer besides the answer itself.
 */
const pieceChars = 64 * 1024;

/** Bytes of memory that an answer in pieces keeps in use. */
const bytesBehind = new WeakMap<object, number>();

/**
 * An answer in pieces. Each is made after its client has taken the previous one, in a turn of that client. An empty
 * piece ends the turn: work was done, and there is no text yet.
 */
export interface PiecesOfAnswer {
  readonly pieces: Iterable<string> | AsyncIterable<string | Buffer>;
  /** Memory of the source of the pieces, held until the answer is sent. */
  readonly bytes: number;
}

export function answerOfPieces({ pieces, bytes }: PiecesOfAnswer, client: string): Readable {
  const answer = Readable.from(inTurns(pieces, client), { objectMode: false });
  bytesBehind.set(answer, bytes);
  return answer;
}

/** Sends a text in pieces. */
export const textInPieces = (text: string, client: string): Readable =>
  answerOfPieces({ pieces: textSlices(text, pieceChars), bytes: bytesOfText(text) }, client);

const bytesOfText = (text: string): number =>
  Buffer.byteLength(text) === text.length ? text.length : 2 * text.length;

async function* inTurns(
  pieces: Iterable<string> | AsyncIterable<string | Buffer>,
  client: string,
): AsyncGenerator<string | Buffer> {
  for await (const piece of pieces) {
    if (piece.length > 0) yield piece;
    // the next piece is made in the next turn
    await nextTurn(client);
  }
}

/**
 * An answer to HEAD: no pieces are made, because no client gets them. (Fastify reads a stream to its end, after the
 * request has released its place.)
 */
export function withoutBody(payload: unknown): unknown {
  if (!(payload instanceof Readable)) return payload;
  payload.destroy();
  return Readable.from([]);
}

/**
 * Bytes of memory that an answer holds until it is sent; 0 for a stream of unknown size. A text counts as two bytes a
 * unit, unless it is ASCII: V8 keeps two for texts with a character beyond Latin-1.
 */
export function bytesOfAnswer(payload: unknown): number {
  if (typeof payload === 'string') return bytesOfText(payload);
  if (Buffer.isBuffer(payload)) return payload.byteLength;
  return typeof payload === 'object' && payload !== null ? (bytesBehind.get(payload) ?? 0) : 0;
}

/** A text in slices of at most `chars` UTF-16 units. */
export function* textSlices(text: string, chars: number): Generator<string> {
  for (let from = 0; from < text.length; ) {
    let to = Math.min(from + chars, text.length);
    // both halves of a character beyond U+FFFF are in one slice: a half alone is not valid UTF-8
    if (to < text.length && isFirstHalf(text.charCodeAt(to - 1))) to--;
    yield text.slice(from, to);
    from = to;
  }
}

const isFirstHalf = (unit: number): boolean => unit >= 0xd8_00 && unit <= 0xdb_ff;
