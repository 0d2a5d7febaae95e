import type { Rune } from '#kernel/runes/rune.ts';
import type { RuneId } from '#kernel/runes/rune-id.ts';
import type { Terms } from '#kernel/runes/terms.ts';
import type { U128 } from '#kernel/runes/u128.ts';

/**
 * Moves an amount of a rune to an output. Amount 0 means all units. The first index after the last output means all
 * outputs that are not an OP_RETURN.
 */
export interface Edict {
  /** Id of the rune. 0:0 is the rune that is etched in the same transaction. */
  readonly id: RuneId;
  readonly amount: U128;
  readonly output: number;
}

/** Creates a rune. Absent fields are null. */
export interface Etching {
  readonly divisibility: number | null;
  readonly premine: U128 | null;
  readonly rune: Rune | null;
  readonly spacers: number | null;
  /** A code point. It is not a text, because U+0000 is legal and Postgres refuses this character in texts. */
  readonly symbol: number | null;
  readonly terms: Terms | null;
  readonly turbo: boolean;
}

/** An etching without fields. Its rune has the default values. */
export const plainEtching: Etching = {
  divisibility: null,
  premine: null,
  rune: null,
  spacers: null,
  symbol: null,
  terms: null,
  turbo: false,
};

export interface Runestone {
  readonly kind: 'runestone';
  readonly edicts: readonly Edict[];
  readonly etching: Etching | null;
  readonly mint: RuneId | null;
  readonly pointer: number | null;
}

/** Faults of a runestone, with ord's names (crates/ordinals/src/flaw.rs). Only the first fault is reported. */
export type Flaw =
  | 'edict-output'
  | 'edict-rune-id'
  | 'invalid-script'
  | 'opcode'
  | 'supply-overflow'
  | 'trailing-integers'
  | 'truncated-field'
  | 'unrecognized-even-tag'
  | 'unrecognized-flag'
  | 'varint';

/**
 * A malformed runestone. It burns the runes that the transaction spends. Its mint is executed, and the name that it
 * etches can no longer be etched.
 */
export interface Cenotaph {
  readonly kind: 'cenotaph';
  readonly etching: Rune | null;
  readonly flaw: Flaw;
  readonly mint: RuneId | null;
}

export type Artifact = Runestone | Cenotaph;
