import type { SpecialRange } from '#kernel/satributes/special-ranges.ts';
import type { PsbtPlan } from '#psbts/planning/psbt-plan.ts';
import type { SatPart } from '#psbts/planning/sat-parts.ts';

/** Special sats of a burned output that a plan would lose, with their positions in the output. */
export interface LostSpecials {
  /** The first special range with a sat that becomes the fee, or null if there is no such range. */
  readonly paid: SpecialRange | null;
  /** The first special range with a burned sat other than the inscribed one, or null if there is no such range. */
  readonly burned: SpecialRange | null;
  /** Whether the inscribed sat itself is special. */
  readonly isInscribed: boolean;
}

/**
 * Finds the special sats of an input that a plan pays as fee or burns. Pure.
 *
 * @param input index of the input in the plan
 * @param inscribed position of the inscribed sat in the input
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

/** Removes one sat from a part. The remaining pieces before and after it are returned. */
function without(part: SatPart, { offset }: SatPart): SatPart[] {
  const end = part.offset + part.size;
  if (offset < part.offset || offset >= end) return [part];
  const before = { ...part, size: offset - part.offset };
  const after = { ...part, offset: offset + 1n, size: end - offset - 1n };
  return [before, after].filter(({ size }) => size > 0n);
}
