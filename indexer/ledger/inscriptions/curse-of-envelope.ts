import { envelopeFlags } from '#indexer/parse/envelope-flags.ts';
import { type Curse, curses } from '#kernel/primitives/curse.ts';

/**
 * The curse that follows from an envelope's own bytes and position. If the result is `none`, the inscription can still
 * be a reinscription. The first matching curse wins (ord src/index/updater/inscription_updater.rs).
 */
export function curseOfEnvelope(flags: number, input: number): Curse {
  // nearly all envelopes: in the first input, without any oddity
  if (input === 0 && (flags & anyOddity) === 0) return curses.none;
  for (const [flag, curse] of beforePlace) if ((flags & flag) !== 0) return curse;
  if (input !== 0) return curses.notInFirstInput;
  for (const [flag, curse] of afterPlace) if ((flags & flag) !== 0) return curse;
  return curses.none;
}

const beforePlace: readonly (readonly [number, Curse])[] = [
  [envelopeFlags.unrecognizedEvenField, curses.unrecognizedEvenField],
  [envelopeFlags.duplicateField, curses.duplicateField],
  [envelopeFlags.incompleteField, curses.incompleteField],
];
const afterPlace: readonly (readonly [number, Curse])[] = [
  [envelopeFlags.notAtOffsetZero, curses.notAtOffsetZero],
  [envelopeFlags.pointer, curses.pointer],
  [envelopeFlags.pushnum, curses.pushnum],
  [envelopeFlags.stutter, curses.stutter],
];
const anyOddity = [...beforePlace, ...afterPlace].reduce((bits, [flag]) => bits | flag, 0);

/**
 * Whether an envelope without a curse of its own is cursed as a reinscription. `count` inscriptions are already on the
 * first sat of its input; the oldest has the curse `initialCurse`. A single inscription there is ignored if it was
 * itself cursed or vindicated, because its sat was then not properly inscribed before.
 */
export function isCursedReinscription(count: number, initialCurse: number): boolean {
  return count > 1 || (count === 1 && initialCurse === curses.none);
}
