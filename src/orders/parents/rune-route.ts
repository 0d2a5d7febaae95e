import type { RuneAmount } from '#kernel/contracts/holdings.ts';

/** Contents of a runestone that routes runes. */
export interface RuneRoute {
  readonly edicts: readonly (RuneAmount & { readonly output: number })[];
  /** The output for runes that no edict moves. */
  readonly pointer: number;
}

/**
 * Routes the runes of each parent to that parent's output. `firstOutput` is the output of the first parent. Returns
 * null if no runestone is needed, because all runes then go to the first output of the transaction. Unknown runes go to
 * the first parent's output, because a transaction with unknown runes has at most one parent. Pure.
 *
 * @param held runes of each parent; null if they are unknown
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
