import type { EtchedRune } from '#chain/runes/etched-by.queries.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import { shownAmount } from '#kernel/runes/shown-amount.ts';
import { formatSpacedRune } from '#kernel/runes/spaced-rune.ts';
import type { Terms } from '#kernel/runes/terms.ts';
import { asU128, type U128, zeroU128 } from '#kernel/runes/u128.ts';
import type { OrderTransaction } from '#orders/order/order-transactions.store.ts';
import { etchingOf, type StoredTerms } from '#orders/order/stored-terms.ts';

/** Terms to show for a rune that no one can mint. */
const noTerms: Terms = {
  amount: null,
  cap: null,
  heightStart: null,
  heightEnd: null,
  offsetStart: null,
  offsetEnd: null,
};

/**
 * The rune of an order, without nested terms, in the form that the public client uses (client-compat 1.5). Amounts are
 * in units of the rune; `cap` is a number of mints. A value is a number if JSON can represent it exactly, else a text.
 * Null if the order does not etch.
 */
export function runeProperties({ etching: stored }: Pick<StoredTerms, 'etching'>): object | null {
  if (stored === undefined) return null;
  const { rune, spacers, symbol, divisibility: decimals, premine, terms, turbo } = etchingOf(stored);
  const { amount, cap, heightStart, heightEnd, offsetStart, offsetEnd } = terms ?? noTerms;
  const divisibility = decimals ?? 0;
  const most = BigInt(premine ?? 0) + BigInt(cap ?? 0) * BigInt(amount ?? 0);
  const units = (of: U128 | null): number | string => exact(shownAmount(of ?? zeroU128, divisibility));
  return {
    turbo,
    rune: rune === null ? null : formatSpacedRune({ rune, spacers: spacers ?? 0 }),
    supply: units(asU128(most)),
    symbol: symbol === null ? null : String.fromCodePoint(symbol),
    divisibility,
    premine: units(premine),
    cap: exact(String(cap ?? 0)),
    amount: units(amount),
    offset: { start: height(offsetStart), end: height(offsetEnd) },
    height: { start: height(heightStart), end: height(heightEnd) },
  };
}

const height = (at: U128 | null): number | string | null => (at === null ? null : exact(String(at)));

/** Converts a decimal to a number if it is an exact integer in JSON; else returns the text. */
function exact(text: string): number | string {
  const number = Number(text);
  return Number.isInteger(number) && Number.isSafeInteger(number) && String(number) === text ? number : text;
}

/**
 * The name and the id of the rune that an order etched. For an order without a name, this shows which name ord
 * assigned. Null if no block has the order's reveal.
 */
export const etchedFields = (
  etched: EtchedRune | null,
): { readonly rune: string; readonly runeId: string } | null =>
  etched && { rune: formatSpacedRune(etched), runeId: `${etched.height}:${etched.txIndex}` };

/** The commit and reveal that etch, once they were sent. Null if the order does not etch, or nothing was sent. */
export function etchingTx(
  { etching }: Pick<StoredTerms, 'etching'>,
  transactions: readonly Pick<OrderTransaction, 'txid' | 'kind' | 'sentAt'>[],
): object | null {
  const sent = transactions.filter(({ sentAt }) => sentAt !== null);
  const [commit, reveal] = (['commit', 'reveal'] as const).map((kind) =>
    sent.find((each) => each.kind === kind),
  );
  if (etching === undefined || commit === undefined) return null;
  return {
    commit: displayHash(commit.txid),
    ...(reveal === undefined ? {} : { reveal: displayHash(reveal.txid) }),
  };
}
