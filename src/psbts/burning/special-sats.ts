import type { SpecialRange } from '#kernel/satributes/special-ranges.ts';
import type { PsbtPlan } from '#psbts/planning/psbt-plan.ts';
import type { SatPart } from '#psbts/planning/sat-parts.ts';

/** Special sats of a burned output that a plan would lose, by their places in the output. */
export interface LostSpecials {
  /** The first one among those that become the fee. Null: there is no such sat. */
  readonly paid: SpecialRange | null;
  /** The first one among those that are burned beside the inscribed sat. */
  readonly burned: SpecialRange | null;
  /** Whether the inscribed sat itself is special. */
  readonly isInscribed: boolean;
}

/**
 * Special sats of an input that a plan pays as fee or burns. Pure.
 *
 * @param input its index in the plan
 * @param inscribed place of the inscribed sat in it
 */
export function lostSpecials(
  { parts, feeParts, outputs }: PsbtPlan,
  input: number,
  inscribed: number,
  special: readonly SpecialRange[],
): LostSpecials {
  const burnedParts = parts.flatMap((each, vout) => (outputs[vout]?.purpose === 'burn' ? each : []));
  const own = (all: readonly SatPart[]): readonly SatPart[] => all.filter((part) => part.input === input);
  const overlapping = (part: SatPart, { offset, start, end }: SpecialRange): boolean =>
    Number(part.offset) < offset + (end - start) && offset < Number(part.offset + part.size);
  const firstIn = (all: readonly SatPart[]): SpecialRange | null =>
    special.find((range) => all.some((part) => overlapping(part, range))) ?? null;
  const sat = { input, offset: BigInt(inscribed), size: 1n };
  return {
    paid: firstIn(own(feeParts)),
    burned: firstIn(own(burnedParts).flatMap((part) => without(part, sat))),
    isInscribed: firstIn([sat]) !== null,
  };
}

/** A part without one of its sats. */
function without(part: SatPart, { offset }: SatPart): SatPart[] {
  const end = part.offset + part.size;
  if (offset < part.offset || offset >= end) return [part];
  const before = { ...part, size: offset - part.offset };
  const after = { ...part, offset: offset + 1n, size: end - offset - 1n };
  return [before, after].filter(({ size }) => size > 0n);
}
