import type { RuneBalance } from '#chain/runes/rune-balances.queries.ts';
import { specialOf } from '#http/sats/output-sats.ts';
import { WorkInTurns } from '#kernel/concurrency/turns.ts';
import { shownAmount } from '#kernel/runes/shown-amount.ts';
import { formatSpacedRune } from '#kernel/runes/spaced-rune.ts';
import type { SatributeBook } from '#kernel/satributes/satribute-book.ts';
import type { SatRange } from '#kernel/sats/sat-range.ts';
import type { HoldingsView } from '#web/parts/chain-outputs.ts';
import type { HeldRune } from '#web/parts/held-runes.ts';

/** Maximum number of inscriptions, and of runes, that a row shows for one output. The page of the output lists all. */
const shownEach = 3;
/**
 * Maximum number of ranges that are compared with all satributes in one turn of the event loop. They take some
 * milliseconds.
 */
const rangesATurn = 250;

/** A rune and its held amount, in the form that pages show. */
export const heldRune = (rune: RuneBalance): HeldRune => ({
  name: formatSpacedRune(rune),
  amount: shownAmount(rune.amount, rune.divisibility),
  symbol: rune.symbol === null ? null : String.fromCodePoint(rune.symbol),
});

/** The satributes of ranges of sats, with their counts. */
export async function satributesIn(
  ranges: readonly SatRange[] | null,
  book: SatributeBook,
  client: string,
): Promise<HoldingsView['satributes']> {
  if (ranges === null || ranges.length === 0) return [];
  const { counts } = await specialOf(ranges, book, new WorkInTurns(client, rangesATurn), 0);
  return book.findable.flatMap(({ id, title }) => {
    const count = counts.get(id) ?? 0;
    return count === 0 ? [] : [{ id, title, count }];
  });
}

/** Contents of an output, for a row. */
export function holdingsOf(
  inscriptions: readonly { readonly id: string; readonly number: number | null }[],
  runes: readonly HeldRune[],
  satributes: HoldingsView['satributes'],
  unknown: string | null,
): HoldingsView {
  return {
    inscriptions: inscriptions.slice(0, shownEach),
    inscriptionCount: inscriptions.length,
    runes: runes.slice(0, shownEach),
    runeCount: runes.length,
    satributes,
    unknown,
  };
}
