import { AppError } from '#kernel/errors/app-error.ts';

/** The error for a place that no page of a list gave. */
export const notOurs = (): AppError =>
  new AppError('request_invalid', 'after is no place of this list', { parameter: 'after' });

/** A key of the index. Throws `request_invalid`. */
export function keyIn(text: string): number {
  const key = /^\d{1,10}$/u.test(text) ? Number(text) : Number.NaN;
  // keys are integers of the database
  if (!(key < 2 ** 31)) throw notOurs();
  return key;
}
