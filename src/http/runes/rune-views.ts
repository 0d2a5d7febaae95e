import { Type } from 'typebox';
import type { NamedRune } from '#chain/runes/address-runes.queries.ts';
import { runeIdText } from '#http/ord/runes/rune-json.ts';
import { shownAmount } from '#kernel/runes/shown-amount.ts';
import { formatSpacedRune } from '#kernel/runes/spaced-rune.ts';
import type { U128 } from '#kernel/runes/u128.ts';

/** Parts of the answers about runes on this server's own paths. */

export const textOrNull = Type.Union([Type.String(), Type.Null()]);
export const units = Type.String({ pattern: '^[0-9]+$', description: 'in base units' });

/** Fields of an amount of a rune. */
export const amountParts = {
  amount: units,
  amountNumber: Type.Union([Type.Integer(), Type.Null()], {
    description: 'the same as a number; null if a double cannot represent it exactly',
  }),
  display: Type.String({ description: 'the amount in units of the rune' }),
};
export const amountSchema = Type.Object(amountParts);

export function amountView(amount: U128, divisibility: number): Type.Static<typeof amountSchema> {
  return {
    amount: String(amount),
    amountNumber: typeof amount === 'number' ? amount : null,
    display: shownAmount(amount, divisibility),
  };
}

/** Fields of the owner of an output. */
export const ownerParts = {
  address: textOrNull,
  script: Type.Union([Type.String(), Type.Null()], {
    description: 'in hex; null if it is longer than 128 bytes',
  }),
  scriptSha256: Type.Union([Type.String(), Type.Null()], { description: 'SHA-256 of a longer script' }),
};
/** Fields of a rune in lists. */
export const runeParts = {
  rune: Type.String({ description: 'its name with spacers' }),
  id: Type.String({ description: '<block>:<transaction>' }),
  divisibility: Type.Integer(),
  symbol: textOrNull,
};
const runeSchema = Type.Object(runeParts);

export function runeView(rune: Omit<NamedRune, 'key'>): Type.Static<typeof runeSchema> {
  return {
    rune: formatSpacedRune(rune),
    id: runeIdText(rune),
    divisibility: rune.divisibility,
    symbol: rune.symbol === null ? null : String.fromCodePoint(rune.symbol),
  };
}
