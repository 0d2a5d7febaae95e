import type { RequestValues } from '#kernel/requests/request-values.ts';
import type { SentPhase } from './read-phases.ts';

/** Terms of a collection that its phases must respect. */
export interface PhaseTerms {
  readonly totalCount: number;
  /** Price of an item in sats, for phases without a price. */
  readonly price: bigint;
  readonly hasCreatorAddress: boolean;
  /** Whether the collection is sold for a rune. */
  readonly isInRunes: boolean;
}

/** Collects faults between phases, and between phases and their collection. Pure. */
export function findPhaseFaults(
  values: RequestValues,
  phases: readonly SentPhase[],
  terms: PhaseTerms,
): void {
  for (const [place, { items, price }] of phases.entries()) {
    if (items !== null && items > terms.totalCount)
      values.fault(
        `phases[${place}].inscriptionsCount`,
        `is ${items}, but the collection has only ${terms.totalCount} items`,
      );
    if (price !== null && price > 0n) findPriceFault(values, `phases[${place}].price`, terms);
  }
  for (const [later, phase] of phases.entries())
    for (const [place, other] of phases.slice(0, later).entries())
      if (isContested(phase, other, terms))
        values.sentence(
          `phases[${later}]`,
          `phases[${later}] and phases[${place}] are public at the same time, so they must have the same price.`,
        );
}

/**
 * Adds the fault of a price in sats. Such a price needs a receiver, and is not allowed if the collection is sold for a
 * rune.
 */
function findPriceFault(
  values: RequestValues,
  field: string,
  { isInRunes, hasCreatorAddress }: PhaseTerms,
): void {
  if (isInRunes)
    values.sentence(field, `${field} is above 0, but the collection is sold for a rune. Leave ${field} out.`);
  else if (!hasCreatorAddress)
    values.fault(field, 'is above 0, so creator-address is required; it receives the price');
}

/**
 * Whether two public phases have different prices at the same time. A public and a listed phase may overlap, because an
 * order takes the cheapest phase that its address may use.
 */
const isContested = (a: SentPhase, b: SentPhase, { price }: Pick<PhaseTerms, 'price'>): boolean =>
  a.isPublic &&
  b.isPublic &&
  (a.price ?? price) !== (b.price ?? price) &&
  startsBeforeEnd(a, b) &&
  startsBeforeEnd(b, a);

const startsBeforeEnd = (
  { startsAt }: Pick<SentPhase, 'startsAt'>,
  { endsAt }: Pick<SentPhase, 'endsAt'>,
): boolean => startsAt === null || endsAt === null || startsAt < endsAt;
