import { Type } from 'typebox';
import { AppError } from '#kernel/errors/app-error.ts';

/** ord takes bodies of 32 MiB where JSON is posted (server.rs): 460,000 ids. */
export const batchBytes = 32 * 1024 * 1024;

/**
 * What such a route takes: an array of strings, which `batchOf` checks. To the validator it is anything: a schema of so many items
 * costs more than they do.
 */
export const batchBody = Type.Unsafe<unknown>({ description: 'a list of texts', examples: [[]] });

/**
 * The items of a body. Throws `request_invalid` for what is
 * no array of strings, for more than `max` items, and what `read` throws.
 */
export function batchOf<Item>(body: unknown, max: number, read: (text: string) => Item): Item[] {
  if (!Array.isArray(body)) throw new AppError('request_invalid', 'the body is not an array');
  // in ord's words, for a limit that it has too where it is told one
  if (body.length > max)
    throw new AppError('request_invalid', `request for ${body.length} items exceeds batch limit of ${max}`);
  return body.map((item: unknown) => {
    if (typeof item !== 'string')
      throw new AppError('request_invalid', 'an item of the body is not a string');
    return read(item);
  });
}
