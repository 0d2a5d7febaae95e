import type { RuneAmount } from '#kernel/contracts/holdings.ts';

/** Contents of a runestone that leads runes. */
export interface RuneRoute {
  readonly edicts: readonly (RuneAmount & { readonly output: number })[];
  /** The output for runes that no edict moves. */
  readonly pointer: number;
}

/**
 * Leads the runes of each parent to its own output; the first of these is `firstOutput`. Null: no runestone is needed,
 * because without one all runes go to the first output of the transaction. Unknown runes go to the first parent's
 * output: a transaction with unknown runes has one parent at most. Pure.
 *
 * @param held runes of each parent; null: unknown
 */
export function runeRoute(
  held: readonly (readonly RuneAmount[] | null)[],
  firstOutput: number,
): RuneRoute | null {
  const isUnknown = held.includes(null);
  const holders = held.flatMap((runes, index) =>
    runes !== null && runes.length > 0 ? [{ runes, output: firstOutput + index }] : [],
  );
  const [first, ...others] = holders;
  if (first === undefined && !isUnknown) return null;
  const pointer = first?.output ?? firstOutput;
  const edicts = others.flatMap(({ runes, output }) => runes.map((rune) => ({ ...rune, output })));
  return pointer === 0 && edicts.length === 0 ? null : { edicts, pointer };
}
