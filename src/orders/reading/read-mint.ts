import { isGiven, type RequestValues } from '#kernel/requests/request-values.ts';
import { asRune } from '#kernel/runes/rune.ts';
import { etchedHere } from '#kernel/runes/rune-id.ts';
import type { SpacedRune } from '#kernel/runes/spaced-rune.ts';
import { type MintTerms, orderBounds } from '#orders/inscribing/order-terms.ts';
import { readRuneName } from './read-rune-name.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Placeholder for a missing or faulty name. Such an order is refused. */
const noName: SpacedRune = { rune: asRune(0n), spacers: 0 };

/**
 * Reads the mints of an order: fields of the public interface (POST /runes/mint). Only the index knows the id of the
 * rune, so the id is 0:0 until the rune is looked up in the index. Never throws. If `values` has faults, the result is
 * not used.
 *
 * @param purpose `numberOfMints` may be absent only in a price, which then assumes 1
 */
export function readMint(values: RequestValues, order: Fields, purpose: 'price' | 'order'): MintTerms {
  values.required(order['rune'], 'rune');
  const name = readRuneName(values, order['rune']) ?? noName;
  const count = readCount(values, order['numberOfMints'], purpose);
  for (const field of ['inscriptionIdPrefix', 'allowedSatributes'])
    if (isGiven(order[field]) && !isEmptyList(order[field]))
      values.sentence(field, `${field} is not possible with mints, because a mint inscribes nothing.`);
  return { ...name, id: etchedHere, count };
}

function readCount(values: RequestValues, given: unknown, purpose: 'price' | 'order'): number {
  if (purpose === 'order') values.required(given, 'numberOfMints');
  else if (!isGiven(given)) values.assume('numberOfMints');
  const count = values.whole(given, 'numberOfMints');
  if (count === null) return 1;
  if (count >= 1n && count <= BigInt(orderBounds.mints)) return Number(count);
  values.fault('numberOfMints', `must be from 1 to ${orderBounds.mints}`);
  return 1;
}

const isEmptyList = (given: unknown): boolean => Array.isArray(given) && given.length === 0;
