import assert from 'node:assert/strict';
import { Type } from 'typebox';
import { TextList } from '#http/bodies/parsing/text-list.ts';
import { Shares } from '#http/server/budgets/shares.ts';
import { type AcceptedForm, acceptedList } from '#http/server/routes/accepted-form.ts';
import { FairGate } from '#kernel/concurrency/fair-gate.ts';
import { inTurnsOf, nextTurn } from '#kernel/concurrency/turns.ts';
import type { Asker } from '#kernel/contracts/asker.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import type { AnswerBody } from './answers.ts';

/**
 * Maximum number of texts that are read in one turn of the event loop and looked up together. The database needs some
 * milliseconds for them.
 */
const partSize = 1_000;

/**
 * The body schema of routes with lists: an array of strings (`body: 'texts'`). The validator accepts any value, because
 * checking this many items by a schema would cost more than the items themselves.
 *
 * @param form the accepted form of an item, for the API document
 * @param max the maximum number of items
 */
export function batchBody(form: AcceptedForm, max: number) {
  return Type.Unsafe<unknown>({
    description: 'a list of strings',
    examples: [[]],
    acceptedForm: acceptedList(form, max),
  });
}

/** Returns the body of a route whose body is a list of texts. */
export function batchList(body: unknown): TextList {
  assert(body instanceof TextList, 'the body of the route is read as a list of texts');
  return body;
}

/** Reads the items of a body in parts. Each part takes one turn of the event loop. Throws the errors of `read`. */
export async function* batchParts<Item>(body: unknown, read: (text: string) => Item): AsyncGenerator<Item[]> {
  for (const part of batchList(body).parts(partSize)) {
    yield part.map(read);
    await nextTurn();
  }
}

/** Reads all items of a body at once. Use it for bodies with few items. Throws the errors of `read`. */
export async function batchOf<Item>(body: unknown, read: (text: string) => Item): Promise<Item[]> {
  const items: Item[] = [];
  for await (const part of batchParts(body, read)) items.push(...part);
  return items;
}

/**
 * Maximum number of items of a small list. A small list does not wait in the queue, because it uses a connection for
 * only some milliseconds.
 */
const smallListMax = 1_000;
/**
 * Maximum number of large lists that run at once. Each uses a connection for some seconds. Most of the pool stays free
 * for other requests.
 */
const runningMax = 2;
const waitingMax = 20;
/**
 * How long a list may wait, in ms. It is as long as a search may take, because a client that gets no response for
 * longer sends the request again.
 */
const waitMs = 10_000;
/** Maximum number of large lists of one client, both running and waiting. */
const eachMax = 2;

function busy(): AppError {
  return new AppError('search_busy', 'too many large lists are being answered; try again in a few seconds');
}

/**
 * Runs requests with large lists. Only a few run at a time, and at most two of one client. The time to read the items
 * is included.
 */
export class BatchGate {
  readonly #gate = new FairGate({ running: runningMax, waiting: waitingMax, waitMs, refusal: busy });
  readonly #places = new Shares({
    what: `lists of more than ${smallListMax} items`,
    total: runningMax + waitingMax,
    each: eachMax,
    full: (message) => new AppError('search_busy', message),
  });

  /** Runs work for a list. Throws `too_many_at_once` and `search_busy`. */
  run<T>(asker: Asker, count: number, work: () => Promise<T>): Promise<T> {
    if (count <= smallListMax) return inTurnsOf(asker.client, work);
    this.#places.take(asker);
    return this.#gate.run(asker, work);
  }
}

/**
 * The JSON response about a list. A small list becomes one text. A large list becomes pieces, so that the response is
 * never completely in memory.
 *
 * @param count the number of requested items
 * @param bytes the size of the data from which the parts are made
 */
export function listAnswer(count: number, parts: Iterable<readonly string[]>, bytes: number): AnswerBody {
  const pieces = listPieces(parts);
  return count <= smallListMax ? [...pieces].join('') : { pieces, bytes };
}

function* listPieces(parts: Iterable<readonly string[]>): Generator<string> {
  let before = '[';
  for (const part of parts) {
    if (part.length === 0) continue;
    yield `${before}${part.join(',')}`;
    before = ',';
  }
  yield before === '[' ? '[]' : ']';
}
