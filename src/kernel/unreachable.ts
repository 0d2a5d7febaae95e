import { AssertionError } from 'node:assert';

/**
 * Ends a switch over a union, so that a switch without a case for each member does not compile. If a value still gets
 * here at run time, for example from a database of another version, an invariant is broken.
 */
export function unreachable(value: never): never {
  throw new AssertionError({ message: `not a member of its union: ${JSON.stringify(value)}` });
}
