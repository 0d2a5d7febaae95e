import { isGiven } from '#kernel/requests/request-values.ts';
import type { OrderTerms } from '#orders/inscribing/order-terms.ts';

type Item = Readonly<Record<string, unknown>>;

/** The parents of an order, as they are named in its body. */
export interface GivenParents {
  /** The parents. This is a list, unless the value in the body has another type. */
  readonly items: unknown;
  /** Field of a parent: `parents[2]`, or `parent`. */
  readonly nameOf: (index: number) => string;
  /** Whether the body has both `parent` and `parents`, and they differ. */
  readonly differ: boolean;
}

/**
 * Finds the parents of an order. Clients of managed orders send a single parent as the object `parent`; a list
 * `parents` is also accepted. The body may have both if they are equal. Never throws.
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

/** Whether two parents are equal. A number and its text are equal. */
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
