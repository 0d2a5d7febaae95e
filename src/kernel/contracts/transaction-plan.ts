import type { Txid } from '#kernel/primitives/hash.ts';
import type { Runestone } from '#kernel/runes/runestone/artifact.ts';
import type { RuneAmount } from './holdings.ts';

/**
 * A key of the wallet, by its place below the account `m/86'/coin'/0'` (BIP 86). Branch 0 has one key per order, branch
 * 1 the keys of the service's own outputs: revenue and change. Branch 2 has the inventory of special sats, and branch 3
 * the keys of fee charges, whose outputs are P2WPKH. All others are P2TR.
 */
export interface WalletKey {
  readonly branch: 0 | 1 | 2 | 3;
  readonly index: number;
}

/**
 * The hash of a leaf that is no longer stored (BIP 341, 32 bytes). Together with the key it is enough for a spend by
 * key. Only given if `leafScript` is null.
 */
export interface OwnScript {
  readonly key: WalletKey;
  /** `<x-only key> OP_CHECKSIG` and envelopes. */
  readonly leafScript: Uint8Array | null;
  /**
   * The hash of a leaf that is no longer stored (BIP 341, 32 bytes): with the key it suffices for a spend by key. Only
   * if `leafScript` is null.
   */
  readonly leafHash?: Uint8Array;
}

/** An output of the wallet that a plan spends, or an anchor (P2A), which needs no signature, whatever key it names. */
export interface PlannedInput extends OwnScript {
  readonly txid: Txid;
  readonly vout: number;
  /** Value in sats. */
  readonly value: bigint;
  /**
   * Its output script. The wallet rebuilds it from the key and the leaf, and refuses a plan with a different script.
   */
  readonly script: Uint8Array;
  readonly sequence: number;
  /** How the output is spent: through its leaf, which reveals the envelopes, or by key. */
  readonly path: 'key' | 'leaf';
}

/** Maximum sats that a transaction pays for others (`bump`): the largest ORDER_BUMP_MAX_SATS. */
export const bumpFeeMax = 1_000_000n;

/**
 * Ingredients of its script, if the output stays in the wallet. The wallet rebuilds the script, and signs no plan with
 * a different script, or with a `commit`, `service`, `change` or `inventory` output that lacks ingredients.
 */
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
   * Ingredients of its script, if it stays with the wallet. The wallet makes the script again, and signs no plan with a
   * different one, or with a `commit`, `service`, `change` or `inventory` that lacks them.
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
  /** Number of sats in all inputs before it. */
  readonly at: bigint;
  readonly output: number;
}

/** Runes of a plan's inputs, and their destinations. */
export interface PlannedRunes {
  readonly held: readonly (RuneAmount & { readonly input: number })[];
  readonly given: readonly (RuneAmount & { readonly output: number })[];
  /** Runes that are burned on purpose. */
  readonly burned: readonly RuneAmount[];
  /** The output that gets all runes that no edict moves, even if it is unknown whether there are any. */
  readonly rest: number;
  /** The parsed runestone of the plan. Null: it has none. */
  readonly runestone: Runestone | null;
}

/**
 * A transaction before it is signed. At least one of its inputs is the wallet's. The fee is the rest of the inputs
 * after the outputs, at most `feeMax` sats: the wallet signs no plan that pays more.
 */
export interface TransactionPlan {
  readonly version: 2 | 3;
  readonly lockTime: number;
  readonly inputs: readonly PlannedInput[];
  readonly outputs: readonly PlannedOutput[];
  readonly feeMax: bigint;
  /** Inscriptions of its inputs. Absent: there are none. */
  readonly inscriptions?: readonly PlannedInscription[];
  /** Inscriptions that it reveals, in the order of their ids. Absent: there are none. */
  readonly reveals?: readonly PlannedReveal[];
  /** Absent: its inputs hold no known runes, and unknown runes go to the first output. */
  readonly runes?: PlannedRunes;
}
