/** The facts that decide which fields of a block's inscriptions are known (docs/schema.md). */
export interface KnownFacts {
  /** All relevant earlier blocks are known. */
  readonly anchored: boolean;
  /** The outputs that the block spends are known. */
  readonly hasSpent: boolean;
  /**
   * The block's sequence numbers are known. This is true if the block is anchored, or if the totals before its island
   * are proven.
   */
  readonly sequenced: boolean;
  /** All numbers of the block are known. */
  readonly numbered: boolean;
}

export interface Known {
  readonly known: string;
  /** The unknown facts, and the reason. Both are null if all facts are known. */
  readonly unknown: string | null;
  readonly why: string | null;
}

/** The known facts of a block's inscriptions, and the reason why other facts are unknown, in words. */
export function knownOf({ anchored, hasSpent, sequenced, numbered }: KnownFacts): Known {
  const isWhole = anchored && hasSpent;
  if (isWhole) {
    return {
      known: 'all facts: its whole history and the outputs that it spends',
      unknown: null,
      why: null,
    };
  }
  const provenStart =
    sequenced && !anchored ? 'sequence numbers (their start is proven)' : 'sequence numbers';
  const fields: readonly (readonly [string, boolean])[] = [
    ['ids', true],
    ['contents', true],
    ['metadata', true],
    ['places', hasSpent],
    ['values', hasSpent],
    ['fees', hasSpent],
    [provenStart, sequenced],
    ['numbers', numbered],
    ['charms', isWhole],
    ['which parents hold', isWhole],
  ];
  const named = (isKnown: boolean): string =>
    fields
      .filter((field) => field[1] === isKnown)
      .map(([name]) => name)
      .join(', ');
  const reasons = [
    !hasSpent && 'the outputs that it spends are missing',
    !anchored && 'blocks before it are missing',
  ];
  return { known: named(true), unknown: named(false), why: reasons.filter(Boolean).join(', and ') };
}
