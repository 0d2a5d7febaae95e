import type { FastifyReply } from 'fastify';
import { askerOf } from '#http/server/access/asker.ts';
import { nextTurn } from '#kernel/concurrency/turns.ts';
import type { Asker } from '#kernel/contracts/asker.ts';
import { answerOfPieces, type PiecesOfAnswer, textSlices } from './answer-pieces.ts';

/** Items of a list that are written in one turn of the event loop: some hundred kilobytes of small ones. */
const itemsATurn = 1_000;

/** Characters of JSON that are made in one turn, in some milliseconds. */
const turnChars = 256 * 1024;

/**
 * Characters of texts up to which an answer is written at once: a tenth of a millisecond. Most pages of a search are
 * below it, and parts would take three times as long.
 */
const smallChars = 32 * 1024;

/** Sends an answer as JSON. Its lists and texts can be long: they are written in turns of the client. */
export async function sendJsonInTurns(reply: FastifyReply, answer: object): Promise<FastifyReply> {
  if (charsLeft(answer, smallChars) < 0) return sendPartsInTurns(reply, jsonParts(answer));
  return reply.type(jsonType).send(JSON.stringify(answer));
}

const jsonType = 'application/json; charset=utf-8';

/** For a number, a name or a bracket: fields without texts count too. */
const charsOfOther = 16;

/** What is left of a number of characters beside a value; below 0 once they do not suffice, and no more is counted. */
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
  // by name: lists of the values of all records would take more than twice as long
  const fields = value as Readonly<Record<string, unknown>>;
  for (const name in fields) {
    if (left < 0) return left;
    left = charsLeft(fields[name], left - charsOfOther);
  }
  return left;
}

/** The same of JSON in parts. Throws as `madeInTurns`. */
export async function sendPartsInTurns(reply: FastifyReply, parts: JsonParts): Promise<FastifyReply> {
  reply.type(jsonType);
  const asker = askerOf(reply);
  const body = await bodyInTurns(parts, asker);
  if (typeof body === 'string') return reply.send(body);
  reply.header('content-length', body.bytes);
  return reply.send(answerOfPieces(body, asker.client));
}

/**
 * A body that is made of parts in turns of its client: a text where one turn makes all of it. Throws as `madeInTurns`.
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
  /** Of all pieces in UTF-8, and about what they take in memory. */
  readonly bytes: number;
}

/**
 * Pieces that are made before the answer is sent, in turns of a client: what they are made of is free then. Throws the
 * reason of its signal where the client is gone.
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
/** A part of a text, made in much less than a turn; `null` ends what a turn makes. */
export type JsonPart = string | typeof endOfPiece;
export type JsonParts = Iterable<JsonPart>;

/** Parts, joined to what is made in a turn. */
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

/** The text of parts, for few of them. */
export const textOfParts = (parts: JsonParts): string => [...parts].join('');

/** A list in parts of items, each written by `write` as JSON with commas between them. */
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
    // what JSON has no word for is null in a list
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

/** Longer texts are written in slices. */
const isLongText = (value: unknown): value is string => typeof value === 'string' && value.length > turnChars;

/** Items of lists are written whole, but for those with such a text. */
const hasLongText = (item: unknown): boolean =>
  typeof item === 'object' && item !== null ? Object.values(item).some(isLongText) : isLongText(item);
