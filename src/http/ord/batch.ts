import assert from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Type } from 'typebox';
import { type TextList, textParts } from '#http/bodies/text-list.ts';
import { type AcceptedForm, acceptedList } from '#http/server/accepted-form.ts';
import { AppError } from '#kernel/errors/app-error.ts';

/** Texts read per turn of the event loop: about 5 ms. */
const partSize = 5_000;

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

/**
 * The items of a body, in parts that the event loop can take in one turn. Throws `request_invalid` for a body that has
 * more than `max` items, and what `read` throws.
 */
export async function* batchParts<Item>(
  body: unknown,
  max: number,
  read: (text: string) => Item,
): AsyncGenerator<Item[]> {
  const list = body as TextList;
  assert(list.ends instanceof Uint32Array, 'the body of the route is read as a list of texts');
  const count = list.ends.length;
  // in ord's words; ord has this limit too where one is configured
  if (count > max)
    throw new AppError('request_invalid', `request for ${count} items exceeds batch limit of ${max}`);
  for (const part of textParts(list, partSize)) {
    yield part.map(read);
    await nextTurn();
  }
}

/** All items of a body at once: for bodies with few of them. Throws as `batchParts`. */
export async function batchOf<Item>(
  body: unknown,
  max: number,
  read: (text: string) => Item,
): Promise<Item[]> {
  const items: Item[] = [];
  for await (const part of batchParts(body, max, read)) items.push(...part);
  return items;
}
