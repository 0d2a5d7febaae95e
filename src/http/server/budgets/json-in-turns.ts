import type { FastifyReply } from 'fastify';
import { askerOf } from '#http/server/access/asker.ts';
import { nextTurn } from '#kernel/concurrency/turns.ts';
import type { Asker } from '#kernel/contracts/asker.ts';
import { answerOfPieces, type PiecesOfAnswer, textSlices } from './answer-pieces.ts';

/**
 * Number of list items that are written in one turn of the event loop. Small items then make some hundred kilobytes.
 */
const itemsATurn = 1_000;

/** Number of characters of JSON that are made in one turn, which takes a few milliseconds. */
const turnChars = 256 * 1024;

/**
 * Maximum number of characters of an answer that is written in one turn, in a tenth of a millisecond. Most pages of a
 * search are smaller. Writing them in parts would take three times as long.
 */
const smallChars = 32 * 1024;

/** Sends an answer as JSON. Long lists and texts are written in turns of the client. */
export async function sendJsonInTurns(reply: FastifyReply, answer: object): Promise<FastifyReply> {
  if (charsLeft(answer, smallChars) < 0) return sendPartsInTurns(reply, jsonParts(answer));
  return reply.type(jsonType).send(JSON.stringify(answer));
}

const jsonType = 'application/json; charset=utf-8';

/** Number of characters that each number, name or bracket counts as, so that fields without texts count too. */
const charsOfOther = 16;

/** Subtracts the number of characters of a value from the given number. Counting stops when the result is below 0. */
function charsLeft(value: unknown, chars: number): number {
  if (typeof value === 'string') return chars - value.length;
  let left = chars - charsOfOther;
  if (typeof value !== 'object' || value === null) return left;
  if (Array.isArray(value)) {
    for (const item of value) {
      if (left < 0) return left;
      left = charsLeft(item, left - charsOfOther);
    }
    return left;
  }
  // loop over field names, because making a list of the values of each record would take more than twice as long
  const fields = value as Readonly<Record<string, unknown>>;
  for (const name in fields) {
    if (left < 0) return left;
    left = charsLeft(fields[name], left - charsOfOther);
  }
  return left;
}

/** Sends JSON in parts that are made in turns of the client. Throws the same errors as `madeInTurns`. */
export async function sendPartsInTurns(reply: FastifyReply, parts: JsonParts): Promise<FastifyReply> {
  reply.type(jsonType);
  const asker = askerOf(reply);
  const body = await bodyInTurns(parts, asker);
  if (typeof body === 'string') return reply.send(body);
  reply.header('content-length', body.bytes);
  return reply.send(answerOfPieces(body, asker.client));
}

/**
 * Joins parts into a body, in turns of its client. The body is a text if one turn makes all of it. Throws the same
 * errors as `madeInTurns`.
 */
export async function bodyInTurns(
  parts: JsonParts,
  asker: Pick<Asker, 'client' | 'signal'>,
): Promise<string | MadePieces> {
  const made = await madeInTurns(piecesOf(parts), asker);
  const [first = '', ...others] = made.pieces;
  return others.length === 0 ? first : made;
}

interface MadePieces extends PiecesOfAnswer {
  readonly pieces: readonly string[];
  /** Number of bytes of all pieces in UTF-8. The pieces take about as much memory. */
  readonly bytes: number;
}

/**
 * Makes all pieces before the answer is sent, so that the source of the pieces is freed early. The pieces are made in
 * turns of a client. Throws the reason of the signal if the client has disconnected.
 */
export async function madeInTurns(
  pieces: Iterable<string> | AsyncIterable<string>,
  { client, signal }: Pick<Asker, 'client' | 'signal'>,
): Promise<MadePieces> {
  const made: string[] = [];
  let bytes = 0;
  for await (const piece of pieces) {
    if (made.length > 0) await nextTurn(client);
    signal.throwIfAborted();
    made.push(piece);
    bytes += Buffer.byteLength(piece);
  }
  return { pieces: made, bytes };
}

const endOfPiece = null;
/** A part of a text, made in much less time than a turn. `null` ends the current piece. */
export type JsonPart = string | typeof endOfPiece;
export type JsonParts = Iterable<JsonPart>;

/** Joins parts into pieces. Each piece is made in one turn. */
export function* piecesOf(parts: JsonParts): Generator<string> {
  let text = '';
  for (const part of parts) {
    text += part ?? '';
    if (part !== endOfPiece && text.length < turnChars) continue;
    yield text;
    text = '';
  }
  yield text;
}

/** Joins a few parts into one text. */
export const textOfParts = (parts: JsonParts): string => [...parts].join('');

/** A list in parts. `write` turns some items into JSON, with commas between the items. */
export function* listParts<Item>(
  items: readonly Item[],
  write: (items: readonly Item[]) => string,
): Generator<JsonPart> {
  for (let at = 0; at < items.length; at += itemsATurn) {
    if (at > 0) yield endOfPiece;
    const part = write(items.slice(at, at + itemsATurn));
    yield at === 0 ? part : `,${part}`;
  }
}

/** The JSON of a value in parts. */
export function* jsonParts(value: unknown): Generator<JsonPart> {
  if (isLongText(value)) {
    yield '"';
    for (const slice of textSlices(value, turnChars)) yield JSON.stringify(slice).slice(1, -1);
    yield '"';
  } else if (Array.isArray(value)) yield* itemParts(value);
  else if (typeof value === 'object' && value !== null && !('toJSON' in value)) yield* fieldParts(value);
  else yield JSON.stringify(value);
}

function* itemParts(items: readonly unknown[]): Generator<JsonPart> {
  yield '[';
  for (const [place, item] of items.entries()) {
    if (place > 0) yield ',';
    if (place > 0 && place % itemsATurn === 0) yield endOfPiece;
    if (hasLongText(item)) yield* jsonParts(item);
    // in lists, JSON writes null for values that it cannot express
    else yield (JSON.stringify(item) as string | undefined) ?? 'null';
  }
  yield ']';
}

function* fieldParts(object: object): Generator<JsonPart> {
  let before = '{';
  for (const [name, field] of Object.entries(object)) {
    if (field === undefined) continue;
    yield `${before}${JSON.stringify(name)}:`;
    yield* jsonParts(field);
    before = ',';
  }
  yield before === '{' ? '{}' : '}';
}

/** Whether a value is a text so long that it must be written in slices. */
const isLongText = (value: unknown): value is string => typeof value === 'string' && value.length > turnChars;

/** Whether an item of a list has a long text. All other items are written in one step. */
const hasLongText = (item: unknown): boolean =>
  typeof item === 'object' && item !== null ? Object.values(item).some(isLongText) : isLongText(item);
