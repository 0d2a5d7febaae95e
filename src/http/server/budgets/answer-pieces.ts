import { Readable } from 'node:stream';
import { nextTurn } from '#kernel/concurrency/turns.ts';

/**
 * Maximum number of characters of a piece. Pieces of this size are cheap, although each piece takes a turn of the event
 * loop. A connection buffers one piece in addition to the answer itself.
 */
const pieceChars = 64 * 1024;

/** Number of bytes of memory that each answer in pieces holds until it is sent. */
const bytesBehind = new WeakMap<object, number>();

/**
 * An answer in pieces. Each piece is made in a turn of the client, after the client has received the previous piece. An
 * empty piece only ends the turn. It means that work was done, but that there is no text yet.
 */
export interface PiecesOfAnswer {
  readonly pieces: Iterable<string> | AsyncIterable<string | Buffer>;
  /** Number of bytes of memory that the source of the pieces holds until the answer is sent. */
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
    // make the next piece in the next turn
    await nextTurn(client);
  }
}

/**
 * The payload of an answer to HEAD. No pieces are made, because the client gets no body. Otherwise Fastify would read
 * the stream to its end, at a time when the limits no longer count the request.
 */
export function withoutBody(payload: unknown): unknown {
  if (!(payload instanceof Readable)) return payload;
  payload.destroy();
  return Readable.from([]);
}

/**
 * Number of bytes of memory that an answer holds until it is sent, or 0 for a stream of unknown size. An ASCII text
 * takes one byte per UTF-16 unit. Any other text is assumed to take two bytes, because V8 needs two bytes per unit for
 * a text with a character beyond Latin-1.
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
    // keep both halves of a character beyond U+FFFF in one slice, because a half alone is not valid UTF-8
    if (to < text.length && isFirstHalf(text.charCodeAt(to - 1))) to--;
    yield text.slice(from, to);
    from = to;
  }
}

const isFirstHalf = (unit: number): boolean => unit >= 0xd8_00 && unit <= 0xdb_ff;
