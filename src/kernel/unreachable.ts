import { AssertionError } from 'node:assert';

/**
 * Ends a switch over a union: a member that was added and not handled does not compile. What gets here all the same, as from a
 * database of another version, is a broken invariant.
 */
export function unreachable(value: never): never {
  throw new AssertionError({ message: `not a member of its union: ${JSON.stringify(value)}` });
}
