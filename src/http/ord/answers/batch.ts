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

/** Texts that are read in one turn of the event loop, and looked up together: some milliseconds with the database. */
const partSize = 1_000;

/**
 * The body of these routes: an array of strings (`body: 'texts'`). The validator accepts anything: a schema for this
 * many items would cost more than the items.
 *
 * @param form of an item, for the document
 * @param max the number of items
 */
export function batchBody(form: AcceptedForm, max: number) {
  return Type.Unsafe<unknown>({
    description: 'a list of strings',
    examples: [[]],
    acceptedForm: acceptedList(form, max),
  });
}

/** The body of such a route, which is read as a list. */
export function batchList(body: unknown): TextList {
  assert(body instanceof TextList, 'the body of the route is read as a list of texts');
  return body;
}

/** The items of a body, in parts that the event loop can read in one turn. Throws the errors of `read`. */
export async function* batchParts<Item>(body: unknown, read: (text: string) => Item): AsyncGenerator<Item[]> {
  for (const part of batchList(body).parts(partSize)) {
    yield part.map(read);
    await nextTurn();
  }
}

/** All items of a body at once: for bodies with few of them. Throws the errors of `read`. */
export async function batchOf<Item>(body: unknown, read: (text: string) => Item): Promise<Item[]> {
  const items: Item[] = [];
  for await (const part of batchParts(body, read)) items.push(...part);
  return items;
}

/** Maximum number of items of a list that counts as a look-up: some milliseconds of a connection. */
const smallListMax = 1_000;
/** Larger lists that run at once. Each holds a connection for some seconds; most of the pool stays free for others. */
const runningMax = 2;
const waitingMax = 20;
/** Longest wait of a list, the same as of a search: clients ask again if they get no answer for longer. */
const waitMs = 10_000;
/** Large lists of one client, running and waiting. */
const eachMax = 2;

function busy(): AppError {
  return new AppError('search_busy', 'too many large lists are being answered: try again in a few seconds');
}

/** Runs requests with large lists a few at a time, and only some of one client. Reading the items counts too. */
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
 * The JSON answer about a list: a text for a small list, pieces for a large one, so that it is never completely in
 * memory.
 *
 * @param count of the items of the question
 * @param bytes of the source of the parts
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
