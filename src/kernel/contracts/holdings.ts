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
  /** Number of sats of the output before the inscription. */
  readonly offset: bigint;
}

/** Contents of an output besides its sats. Null: not known. */
export interface Holdings {
  readonly inscriptions: readonly HeldInscription[] | null;
  readonly runes: readonly RuneAmount[] | null;
}

/** An output with nothing but sats. */
export const nothingHeld: Holdings = { inscriptions: [], runes: [] };

/** An output of which only the sats are known. */
export const unknownHoldings: Holdings = { inscriptions: null, runes: null };
