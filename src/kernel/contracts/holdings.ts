import type { RuneId } from '#kernel/runes/rune-id.ts';
import type { U128 } from '#kernel/runes/u128.ts';

/** An amount of a rune. */
export interface RuneAmount {
  readonly id: RuneId;
  readonly amount: U128;
}

/** An inscription in an output. */
export interface HeldInscription {
  /** `<txid>i<index>`. */
  readonly id: string;
  /** Number of sats of the output that are before the inscription. */
  readonly offset: bigint;
}

/** Contents of an output in addition to its sats. A list is null if unknown. */
export interface Holdings {
  readonly inscriptions: readonly HeldInscription[] | null;
  readonly runes: readonly RuneAmount[] | null;
}

/** Contents of an output that has only sats. */
export const nothingHeld: Holdings = { inscriptions: [], runes: [] };

/** Contents of an output if only its sats are known. */
export const unknownHoldings: Holdings = { inscriptions: null, runes: null };
