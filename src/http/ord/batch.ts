import { AppError } from '#kernel/errors/app-error.ts';

/** ord takes bodies of 32 MiB where JSON is posted (server.rs): 460,000 ids. */
const bodyBytes = 32 * 1024 * 1024;

/** Options of a route that takes a JSON array of strings. */
export function batchOptions(summary: string): { bodyLimit: number; schema: object } {
  return { bodyLimit: bodyBytes, schema: { summary, tags: ['ord'] } };
}

/**
 * The items of a body. Read by hand: a schema of so many items costs more than they do. Throws `request_invalid` for what is
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
