import { AppError } from '#kernel/errors/app-error.ts';

/** The error for a position that is not from a page of the list. */
export const notOurs = (): AppError =>
  new AppError('request_invalid', 'after is not a position in this list; follow the links of the page', {
    parameter: 'after',
  });

/** Parses a key of the index. Throws `request_invalid`. */
export function keyIn(text: string): number {
  const key = /^\d{1,10}$/u.test(text) ? Number(text) : Number.NaN;
  // keys are integers of the database, below 2^31
  if (!(key < 2 ** 31)) throw notOurs();
  return key;
}
