import type { Txid } from '#kernel/primitives/hash.ts';
import type { Runestone } from '#kernel/runes/runestone/artifact.ts';
import type { RuneAmount } from './holdings.ts';

/**
 * A key of the wallet, by its place below the account `m/86'/coin'/0'` (BIP 86). Branch 0 has one key an order, branch
 * 1 the keys of the service's own outputs: revenue and change. Branch 2 has the inventory of special sats, and branch 3
 * the keys of fee charges, whose outputs are P2WPKH. All others are P2TR.
 */
export interface WalletKey {
  readonly branch: 0 | 1 | 2 | 3;
  readonly index: number;
}

/**
 * What a script of the wallet is made of: P2TR with this key as its internal key, and the leaf as its only script. No
 * leaf, and no hash of one: the key alone (BIP 86). Branch 3 has no leaf: P2WPKH of the key (BIP 141).
 */
export interface OwnScript {
  readonly key: WalletKey;
  /** `<x-only key> OP_CHECKSIG` and envelopes. */
  readonly leafScript: Uint8Array | null;
  /**
   * The hash of a leaf that is no longer stored (BIP 341, 32 bytes): with the key it is enough to spend by key. Only
   * where `leafScript` is null.
   */
  readonly leafHash?: Uint8Array;
}

/** An output of the wallet that a plan spends; or an anchor (P2A), for which no key signs, whatever it names. */
export interface PlannedInput extends OwnScript {
  readonly txid: Txid;
  readonly vout: number;
  /** Sats. */
  readonly value: bigint;
  /** Its output script. The wallet makes it from the key and the leaf again, and refuses a plan where it differs. */
  readonly script: Uint8Array;
  readonly sequence: number;
  /** How it is spent: through its leaf, which reveals the envelopes, or by key. */
  readonly path: 'key' | 'leaf';
}

/** Sats that a transaction pays for others at most (`bump`): the largest ORDER_BUMP_MAX_SATS. */
export const bumpFeeMax = 1_000_000n;

/**
 * The use of an output. To the customer: `postage` (an inscription), `parent` (one that returns), `refund`. To a
 * partner or the operator: `payout`. To where an account says: `withdrawal`. To where the operator says: `aside` (an
 * output that token payments set aside). To the wallet: `service` (revenue), `commit` (what a later reveal spends),
 * `change`, `bump` (what is left of a transaction that pays for others: its only output), `inventory` (what an order
 * leaves of an output of branch 2). To nobody: `anchor` (P2A, for CPFP), `burn` (OP_RETURN, or P2A on the way there).
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
   * What its script is made of, where it stays with the wallet. The wallet makes the script again, and signs no plan in
   * which it is another one; nor one whose `commit`, `service`, `change` or `inventory` says nothing of it.
   */
  readonly own?: OwnScript;
}

/** An inscription of an input, and the output that the plan sends it to. */
export interface PlannedInscription extends PlannedReveal {
  /** `<txid>i<index>`. */
  readonly id: string;
}

/** An inscription that the plan reveals, and the output that it comes to be in. */
export interface PlannedReveal {
  /** Sats of all inputs before it. */
  readonly at: bigint;
  readonly output: number;
}

/** Runes of a plan's inputs, and where they go. */
export interface PlannedRunes {
  readonly held: readonly (RuneAmount & { readonly input: number })[];
  readonly given: readonly (RuneAmount & { readonly output: number })[];
  /** Lost on purpose. */
  readonly burned: readonly RuneAmount[];
  /** The output of all that no edict moves, also where it is not known whether there is any. */
  readonly rest: number;
  /** How its runestone reads; null: it has none. */
  readonly runestone: Runestone | null;
}

/**
 * A transaction before it is signed. At least one of its inputs is the wallet's. What the outputs leave of the inputs
 * is the fee, of at most `feeMax` sats: the wallet signs no plan that pays more.
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
  /** Absent: its inputs hold none, and those that are not known go to the first output. */
  readonly runes?: PlannedRunes;
}
