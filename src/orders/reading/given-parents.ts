import { isGiven } from '#kernel/requests/request-values.ts';
import type { OrderTerms } from '#orders/inscribing/order-terms.ts';

type Item = Readonly<Record<string, unknown>>;

/** The parents of an order as its body names them. */
export interface GivenParents {
  /** A list, unless the body has something else in its place. */
  readonly items: unknown;
  /** The field of each: `parents[2]`, or `parent`. */
  readonly nameOf: (index: number) => string;
  /** `parent` and `parents` are both there, and differ. */
  readonly differ: boolean;
}

/**
 * Finds the parents of an order. Clients of managed orders send one as `parent`, an object; a list as `parents` is
 * taken too. Both may be there if they say the same. Total.
 */
export function givenParents(order: Item, type: OrderTerms['type']): GivenParents {
  const { parent, parents } = order;
  const listed: GivenParents = { items: parents, nameOf: (index) => `parents[${index}]`, differ: false };
  if (type === 'direct' || !isGiven(parent)) return listed;
  const one: GivenParents = { items: [parent], nameOf: () => 'parent', differ: false };
  if (!isGiven(parents) || (Array.isArray(parents) && parents.length === 0)) return one;
  return {
    ...listed,
    differ: !(Array.isArray(parents) && parents.length === 1 && isSame(parent, parents[0])),
  };
}

/** Numbers may be texts: each is what it says. */
function isSame(a: unknown, b: unknown): boolean {
  const [one, other] = [fieldsOf(a), fieldsOf(b)];
  return (
    one !== null &&
    other !== null &&
    ['inscriptionId', 'returnAddress', 'value'].every((name) => wordOf(one[name]) === wordOf(other[name]))
  );
}

const fieldsOf = (value: unknown): Item | null =>
  typeof value === 'object' && value !== null ? (value as Item) : null;

const wordOf = (value: unknown): unknown => (typeof value === 'number' ? String(value) : value);
