/**
 * The reason why an inscription is cursed, or vindicated after the jubilee. It is the first reason that applies, in
 * ord's order of checks (ord src/index/updater/inscription_updater.rs). The numbers are stored, so never change a
 * number.
 */
export const curses = {
  none: 0,
  unrecognizedEvenField: 1,
  duplicateField: 2,
  incompleteField: 3,
  notInFirstInput: 4,
  notAtOffsetZero: 5,
  pointer: 6,
  pushnum: 7,
  stutter: 8,
  reinscription: 9,
} as const;
export type Curse = (typeof curses)[keyof typeof curses];

const kebab = [
  null,
  'unrecognized-even-field',
  'duplicate-field',
  'incomplete-field',
  'not-in-first-input',
  'not-at-offset-zero',
  'pointer',
  'pushnum',
  'stutter',
  'reinscription',
] as const;

/** The kebab-case name of a stored curse. `null` for no curse and for an unknown curse. */
export function curseName(curse: number | null): string | null {
  return curse === null ? null : (kebab[curse] ?? null);
}
