import type { Txid } from '#kernel/primitives/hash.ts';
import type { Runestone } from '#kernel/runes/runestone/artifact.ts';
import type { RuneAmount } from './holdings.ts';

/**
 * A key of the wallet, by its path below the account `m/86'/coin'/0'` (BIP 86). Branch 0 has one key per order. Branch
 * 1 has the keys of the service's own outputs, which are revenue and change. Branch 2 has the inventory of special
 * sats. Branch 3 has the keys of fee charges, whose outputs are P2WPKH. Outputs of all other branches are P2TR.
 */
export interface WalletKey {
  readonly branch: 0 | 1 | 2 | 3;
  readonly index: number;
}

/** Data from which the wallet rebuilds a script of its own. */
export interface OwnScript {
  readonly key: WalletKey;
  /**
   * The leaf, which has `<x-only key> OP_CHECKSIG` and envelopes. Null if the script has no leaf, or if the leaf is no
   * longer stored.
   */
  readonly leafScript: Uint8Array | null;
  /**
   * The hash of a leaf that is no longer stored (BIP 341, 32 bytes). The hash and the key are enough for a spend by
   * key. Present only if `leafScript` is null.
   */
  readonly leafHash?: Uint8Array;
}

/**
 * An output of the wallet that a plan spends, or an anchor (P2A). An anchor needs no signature, and its key is ignored.
 */
export interface PlannedInput extends OwnScript {
  readonly txid: Txid;
  readonly vout: number;
  /** Value in sats. */
  readonly value: bigint;
  /**
   * The output's script. The wallet rebuilds this script from the key and the leaf, and refuses a plan with a different
   * script.
   */
  readonly script: Uint8Array;
  readonly sequence: number;
  /** Whether the output is spent through its leaf, which reveals the envelopes, or by key. */
  readonly path: 'key' | 'leaf';
}

/**
 * Maximum number of sats that a transaction pays for other transactions (`bump`). It is the largest
 * ORDER_BUMP_MAX_SATS.
 */
export const bumpFeeMax = 1_000_000n;

/** Purpose of an output of a plan. */
export type PlannedOutputKind =
  | 'postage'
  | 'parent'
  | 'service'
  | 'commit'
  | 'change'
  | 'bump'
  | 'inventory'
  | 'anchor'
  | 'burn'
  | 'refund'
  | 'payout'
  | 'withdrawal'
  | 'aside';

export interface PlannedOutput {
  readonly script: Uint8Array;
  /** Sats. */
  readonly value: bigint;
  readonly kind: PlannedOutputKind;
  /**
   * Data from which the wallet rebuilds the output's script, if the output stays in the wallet. The wallet refuses a
   * plan with a different script. It also refuses a plan in which a `commit`, `service`, `change` or `inventory` output
   * lacks this data.
   */
  readonly own?: OwnScript;
}

/** An inscription of an input, and the output that the plan sends it to. */
export interface PlannedInscription extends PlannedReveal {
  /** `<txid>i<index>`. */
  readonly id: string;
}

/** An inscription that the plan reveals, and the output that receives it. */
export interface PlannedReveal {
  /** Number of sats of all inputs that are before the inscription. */
  readonly at: bigint;
  readonly output: number;
}

/** Runes of a plan's inputs, and their destinations. */
export interface PlannedRunes {
  readonly held: readonly (RuneAmount & { readonly input: number })[];
  readonly given: readonly (RuneAmount & { readonly output: number })[];
  /** Runes that the plan burns on purpose. */
  readonly burned: readonly RuneAmount[];
  /**
   * Index of the output that gets all runes that no edict moves, even if it is unknown whether there are such runes.
   */
  readonly rest: number;
  /** The parsed runestone of the plan. `null` if the plan has no runestone. */
  readonly runestone: Runestone | null;
}

/**
 * A transaction before signing. At least one of its inputs belongs to the wallet. The fee is the value of the inputs
 * minus the value of the outputs. It is at most `feeMax` sats, because the wallet signs no plan that pays more.
 */
export interface TransactionPlan {
  readonly version: 2 | 3;
  readonly lockTime: number;
  readonly inputs: readonly PlannedInput[];
  readonly outputs: readonly PlannedOutput[];
  readonly feeMax: bigint;
  /** Inscriptions of the plan's inputs. Absent if there are none. */
  readonly inscriptions?: readonly PlannedInscription[];
  /** Inscriptions that the plan reveals, in the order of their ids. Absent if there are none. */
  readonly reveals?: readonly PlannedReveal[];
  /**
   * Runes of the plan. If this is absent, the inputs contain no known runes, and unknown runes go to the first output.
   */
  readonly runes?: PlannedRunes;
}
