import type { RuneAmount } from '#kernel/contracts/holdings.ts';

/** What a runestone must say. */
export interface RuneRoute {
  readonly edicts: readonly (RuneAmount & { readonly output: number })[];
  /** The output of what no edict moves. */
  readonly pointer: number;
}

/**
 * Leads the runes of parents home: those of each one to its own output, of which the first is `firstOutput`. Without a
 * runestone all go to the first output of the transaction; null: that is right. Where runes are not known, those that
 * there may be go to the first parent's output: there, no transaction has two. Pure.
 *
 * @param held of each parent; null: not known
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
