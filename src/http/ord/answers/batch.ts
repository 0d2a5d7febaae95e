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

/** Texts read per turn of the event loop, and asked for at once: some milliseconds with what the database says. */
const partSize = 1_000;

/**
 * The body of these routes: an array of strings (`body: 'texts'`). The validator accepts anything: a schema for so many
 * items would cost more than the items.
 *
 * @param form what an item looks like, for the document
 * @param max the number of items
 */
export function batchBody(form: AcceptedForm, max: number) {
  return Type.Unsafe<unknown>({
    description: 'a list of strings',
    examples: [[]],
    acceptedForm: acceptedList(form, max),
  });
}

/** The list that the body of such a route is read as. */
export function batchList(body: unknown): TextList {
  assert(body instanceof TextList, 'the body of the route is read as a list of texts');
  return body;
}

/** The items of a body, in parts that the event loop can take in one turn. Throws what `read` throws. */
export async function* batchParts<Item>(body: unknown, read: (text: string) => Item): AsyncGenerator<Item[]> {
  for (const part of batchList(body).parts(partSize)) {
    yield part.map(read);
    await nextTurn();
  }
}

/** All items of a body at once: for bodies with few of them. Throws what `read` throws. */
export async function batchOf<Item>(body: unknown, read: (text: string) => Item): Promise<Item[]> {
  const items: Item[] = [];
  for await (const part of batchParts(body, read)) items.push(...part);
  return items;
}

/** Lists up to this size are look-ups: some milliseconds of a connection. */
const smallListMax = 1_000;
/**
 * Larger ones hold a connection for up to some seconds; most of the pool stays free for the others.
 */
const runningMax = 2;
const waitingMax = 20;
/** As long as a search waits: a client that gets nothing for longer asks again. */
const waitMs = 10_000;
/** Of one client, running and waiting. */
const eachMax = 2;

function busy(): AppError {
  return new AppError(
    'search_busy',
    'too many large lists are asked for at once: try again in a few seconds',
  );
}

/** Runs requests with large lists a few at a time, and not many of one client: also the reading of their items. */
export class BatchGate {
  readonly #gate = new FairGate({ running: runningMax, waiting: waitingMax, waitMs, refusal: busy });
  readonly #places = new Shares({
    what: `lists of more than ${smallListMax} items`,
    total: runningMax + waitingMax,
    each: eachMax,
    full: (message) => new AppError('search_busy', message),
  });

  /** Throws `too_many_at_once` and `search_busy`. */
  run<T>(asker: Asker, count: number, work: () => Promise<T>): Promise<T> {
    if (count <= smallListMax) return inTurnsOf(asker.client, work);
    this.#places.take(asker);
    return this.#gate.run(asker, work);
  }
}

/**
 * The answer about a list, as JSON: of a small one a text, of a large one pieces, so that it is never in memory as a
 * whole.
 *
 * @param count the items of the question
 * @param bytes what the parts are made of
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
