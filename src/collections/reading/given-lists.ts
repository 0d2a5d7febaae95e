import type { RequestValues } from '#kernel/requests/request-values.ts';

type Fields = Readonly<Record<string, unknown>>;

const indexPattern = /^\d{1,9}$/u;

export const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * Whether an object represents a list of a form, with indices as keys. Form parsers return such an object if a list has
 * gaps.
 */
export const isIndexed = (value: Fields): boolean =>
  Object.keys(value).every((name) => indexPattern.test(name));

/** Reads a list from JSON or from a form: an array, or an object keyed by index. */
export function readGivenList(values: RequestValues, given: unknown, name: string): readonly unknown[] {
  // a form sends an empty list as an empty text
  if (given === '') return [];
  if (!isFields(given)) return values.list(given, name);
  if (isIndexed(given))
    return Object.entries(given)
      .toSorted(([a], [b]) => Number(a) - Number(b))
      .map(([, item]) => item);
  values.fault(name, 'must be a list');
  return [];
}
