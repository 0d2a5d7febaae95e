import { createHash } from 'node:crypto';

/** The id of the watch that a form asks for: a UUID that is derived from everything that the form asks for. */
export function idOfForm(asked: readonly unknown[]): string {
  const digits = createHash('sha256').update(JSON.stringify(asked)).digest('hex');
  // version 8 of RFC 9562, for ids that are derived
  const parts = [
    digits.slice(0, 8),
    digits.slice(8, 12),
    `8${digits.slice(13, 16)}`,
    `8${digits.slice(17, 20)}`,
  ];
  return [...parts, digits.slice(20, 32)].join('-');
}

/** Whether the id of a watch is derived from a form. All other ids are random, of version 4. */
export const isIdOfForm = (id: string): boolean => id[14] === '8';
