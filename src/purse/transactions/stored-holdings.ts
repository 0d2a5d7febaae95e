import { type Holdings, nothingHeld } from '#kernel/contracts/holdings.ts';
import { formatRuneId, parseRuneId } from '#kernel/runes/rune-id.ts';
import { u128OfText } from '#kernel/runes/u128.ts';

/**
 * Contents of an output of a stored plan in addition to the output's sats, as JSON. Amounts and offsets are decimal
 * numbers in text.
 */
export interface StoredHoldings {
  readonly inscriptions?: readonly (readonly [id: string, offset: string])[];
  readonly runes?: readonly (readonly [id: string, amount: string])[];
}

/** Converts contents to their stored form. Returns null if there are no known contents. */
export function storedHoldings({ inscriptions, runes }: Holdings): StoredHoldings | null {
  const stored: StoredHoldings = {
    ...(inscriptions === null || inscriptions.length === 0
      ? {}
      : { inscriptions: inscriptions.map(({ id, offset }) => [id, String(offset)] as const) }),
    ...(runes === null || runes.length === 0
      ? {}
      : { runes: runes.map(({ id, amount }) => [formatRuneId(id), String(amount)] as const) }),
  };
  return Object.keys(stored).length === 0 ? null : stored;
}

/** @param stored stored contents; absent in plans of earlier versions, which means that no contents are known */
export function holdingsOf(stored: StoredHoldings | null | undefined): Holdings {
  if (stored === null || stored === undefined) return nothingHeld;
  const { inscriptions = [], runes = [] } = stored;
  return {
    inscriptions: inscriptions.map(([id, offset]) => ({ id, offset: BigInt(offset) })),
    runes: runes.flatMap(([text, amount]) => {
      const id = parseRuneId(text);
      return id === null ? [] : [{ id, amount: u128OfText(amount) }];
    }),
  };
}
