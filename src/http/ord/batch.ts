import { Type } from 'typebox';
import { type AcceptedForm, acceptedList } from '#http/server/accepted-form.ts';
import { AppError } from '#kernel/errors/app-error.ts';

/**
 * The body of these routes: an array of strings, which `batchOf` checks. The validator accepts anything: a schema for
 * so many items would cost more than the items.
 *
 * @param form what an item looks like, for the document
 * @param max the number of items
 */
export function batchBody(form: AcceptedForm, max: number) {
  return Type.Unsafe<unknown>({
    description: 'a list of texts',
    examples: [[]],
    acceptedForm: acceptedList(form, max),
  });
}

/**
 * The items of a body. Throws `request_invalid` for a body that is not an array of strings, or has more than `max`
 * items, and what `read` throws.
 */
export function batchOf<Item>(body: unknown, max: number, read: (text: string) => Item): Item[] {
  if (!Array.isArray(body)) throw new AppError('request_invalid', 'the body is not an array');
  // in ord's words; ord has this limit too where one is configured
  if (body.length > max)
    throw new AppError('request_invalid', `request for ${body.length} items exceeds batch limit of ${max}`);
  return body.map((item: unknown) => {
    if (typeof item !== 'string')
      throw new AppError('request_invalid', 'an item of the body is not a string');
    return read(item);
  });
}
