import type { RuneDetail } from '#chain/runes/rune.queries.ts';
import type { RuneBalance } from '#chain/runes/rune-balances.queries.ts';
import { type JsonPart, listParts } from '#http/server/budgets/json-in-turns.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import { formatRuneId } from '#kernel/runes/rune-id.ts';
import { shownAmount } from '#kernel/runes/shown-amount.ts';
import { formatSpacedRune } from '#kernel/runes/spaced-rune.ts';
import { mintable, type Terms } from '#kernel/runes/terms.ts';
import { smallU128 } from '#kernel/runes/u128.ts';

/*
 * Runes as JSON text. JSON.stringify is not used, because it refuses bigints, and integers can be as large as 2^128 -
 * 1. As text, numbers and bigints already have the form of JSON.
 */

/** The name as JSON. Nothing is escaped, because a name has only letters and `•`. */
const nameText = (rune: Parameters<typeof formatSpacedRune>[0]): string => `"${formatSpacedRune(rune)}"`;

const symbolText = (symbol: number | null): string =>
  symbol === null ? 'null' : JSON.stringify(String.fromCodePoint(symbol));

export const runeIdText = ({ height, txIndex }: Pick<RuneDetail, 'height' | 'txIndex'>): string =>
  formatRuneId({ block: smallU128(height), tx: txIndex });

/** The `entry` of ord's `/rune`. */
function entryJson(rune: RuneDetail): string {
  const { terms } = rune;
  return (
    `{"block":${rune.height},"burned":${rune.burned},"divisibility":${rune.divisibility},` +
    `"etching":"${displayHash(rune.etching)}","mints":${rune.mints},"number":${rune.key},` +
    `"premine":${rune.premine},"spaced_rune":${nameText(rune)},"symbol":${symbolText(rune.symbol)},` +
    `"terms":${terms === null ? 'null' : termsJson(terms)},"timestamp":${rune.timestamp},"turbo":${rune.turbo}}`
  );
}

export function termsJson(terms: Terms): string {
  return (
    `{"amount":${terms.amount},"cap":${terms.cap},"height":[${terms.heightStart},${terms.heightEnd}],` +
    `"offset":[${terms.offsetStart},${terms.offsetEnd}]}`
  );
}

/**
 * The JSON of ord's `/rune`.
 *
 * @param height the height of the next block
 * @param parent the inscription that the etching revealed
 */
export function runeJson(rune: RuneDetail, height: number, parent: string | null): string {
  const isMintable = mintable(rune.terms, smallU128(rune.height), height, rune.mints) !== null;
  return (
    `{"entry":${entryJson(rune)},"id":"${runeIdText(rune)}","mintable":${isMintable},` +
    `"parent":${parent === null ? 'null' : `"${parent}"`}}`
  );
}

/** The JSON of ord's `/runes`. */
export function runesPageJson(runes: readonly RuneDetail[], page: number, more: boolean): string {
  const entries = runes.map((rune) => `["${runeIdText(rune)}",${entryJson(rune)}]`);
  const next = more ? page + 1 : null;
  const prev = page === 0 ? null : page - 1;
  return `{"entries":[${entries.join(',')}],"more":${more},"prev":${prev},"next":${next}}`;
}

/** The `runes` of ord's outputs, in parts. If `balances` is null, they are unknown. */
export function* heldRunesParts(balances: readonly RuneBalance[] | null): Generator<JsonPart> {
  if (balances === null) {
    yield 'null';
    return;
  }
  yield '{';
  yield* listParts(balances, (part) => part.map(heldRuneJson).join(','));
  yield '}';
}

const heldRuneJson = (balance: RuneBalance): string =>
  `${nameText(balance)}:{"amount":${balance.amount},"divisibility":${balance.divisibility},` +
  `"symbol":${symbolText(balance.symbol)}}`;

/**
 * The `runes_balances` of ord's `/address`, in parts. Amounts are in units of the rune. If `balances` is null, they are
 * unknown.
 */
export function* shownBalancesParts(balances: readonly RuneBalance[] | null): Generator<JsonPart> {
  if (balances === null) {
    yield 'null';
    return;
  }
  yield '[';
  yield* listParts(balances, (part) => part.map(shownBalanceJson).join(','));
  yield ']';
}

const shownBalanceJson = (balance: RuneBalance): string =>
  `[${nameText(balance)},"${shownAmount(balance.amount, balance.divisibility)}",${symbolText(balance.symbol)}]`;
