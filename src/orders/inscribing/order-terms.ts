import type { InscriptionId } from '#kernel/primitives/inscription-id.ts';
import type { RuneId } from '#kernel/runes/rune-id.ts';
import type { Etching } from '#kernel/runes/runestone/artifact.ts';
import type { SpacedRune } from '#kernel/runes/spaced-rune.ts';

/** The bytes of a content, or only their number, which is enough for a price. */
export type Content = Uint8Array | number;

/** One inscription of an order: a file, or a delegate with its fields. */
export interface FileTerms {
  readonly contentType: string | null;
  readonly body: Content | null;
  readonly contentEncoding: string | null;
  readonly metaprotocol: string | null;
  /** Metadata as CBOR. */
  readonly metadata: Content | null;
  readonly delegate: InscriptionId | null;
}

export interface ParentTerms {
  readonly id: InscriptionId;
  /** Sats of the output that holds the parent. The script of a direct reveal is written for this value. */
  readonly value: bigint;
  readonly returnScript: Uint8Array;
}

/** An inventory sat for one inscription. */
export interface InventoryTerms {
  /** Sats of the output that has it. */
  readonly value: bigint;
  /** Sats of that output before it: 0, or enough for an output. */
  readonly place: bigint;
}

/** Mints of one rune, each in a transaction of its own. */
export interface MintTerms extends SpacedRune {
  readonly id: RuneId;
  readonly count: number;
}

/** Outputs of a reveal's inscriptions: one for each, or one for all, a postage apart. */
export type BatchMode = 'separate-outputs' | 'shared-output';

/** Fields of an order that its transactions depend on. */
export interface OrderTerms {
  /** `direct`: the charge address is the commit output. `bulk`: paid to the wallet, which makes its own commit. */
  readonly type: 'direct' | 'bulk';
  /** In the order of their indexes. */
  readonly files: readonly FileTerms[];
  /** Scripts: one for all files, or one for each file. Not used if the inscriptions are burned. */
  readonly receivers: readonly Uint8Array[];
  /** Sats of each inscription's output; `least`: the least that nodes relay to its receivers. */
  readonly postage: bigint | 'least';
  /** Sats for 1,000 virtual bytes, Bitcoin Core's unit of fee rates: 2 sat/vB are 2,000. */
  readonly feeRate: bigint;
  readonly batchMode: BatchMode;
  readonly parents: readonly ParentTerms[];
  /** Inscribe to an anchor, then send the anchor to an OP_RETURN output. */
  readonly burn: boolean;
  /** Inscribe only in ways that ord's rules before the jubilee would not curse. */
  readonly uncurse: boolean;
  /** Sats for the referral, for each file. */
  readonly additionalFee: bigint;
  /** Whether a miner takes reveals that nodes do not relay (above 400,000 weight units). */
  readonly nonStandard: boolean;
  /** One for each file, in their order, each of an output of its own. Null: sats of the payments are inscribed. */
  readonly inventory: readonly InventoryTerms[] | null;
  /**
   * The rune that its reveal etches. The premine goes to the receiver in an output of its own. Such an order may have
   * no files. Null: none.
   */
  readonly etching: Etching | null;
  /** Mints for its receiver. Such an order has no files and no reveals. Null: none. */
  readonly mint: MintTerms | null;
}

export type OrderRefusalCode =
  | 'no-files'
  | 'too-many-files'
  | 'content-type-long'
  | 'metaprotocol-long'
  | 'receivers-count'
  | 'receivers-differ'
  | 'burn-shared'
  | 'postage-bounds'
  | 'postage-dust'
  | 'fee-rate-bounds'
  | 'additional-fee-bounds'
  | 'inventory-alone'
  | 'inventory-files'
  | 'etching-alone'
  | 'etching-files'
  | 'mint-alone'
  | 'mint-count'
  | 'parent-repeated'
  | 'parent-dust'
  | 'uncurse-impossible'
  | 'too-many-parents'
  | 'reveal-too-large'
  | 'non-standard-alone'
  | 'commit-too-large'
  | 'payment-short'
  | 'parent-value-differs';

/** An order that cannot be made, or a transaction that cannot be planned. It is an expected outcome, never thrown. */
export interface OrderRefusal {
  readonly kind: 'refused';
  readonly code: OrderRefusalCode;
  /** A sentence for people. */
  readonly reason: string;
  /** Index of the faulty file, if the fault concerns one. */
  readonly file?: number;
  /** Missing sats, if a payment is short. */
  readonly missing?: bigint;
}

export const refused = (
  code: OrderRefusalCode,
  reason: string,
  more: Pick<OrderRefusal, 'file' | 'missing'> = {},
): OrderRefusal => ({ kind: 'refused', code, reason, ...more });

/** A refusal because payments lack `missing` sats for their transaction. */
export const shortOf = (missing: bigint, what: 'order' | 'transaction'): OrderRefusal =>
  refused('payment-short', `The payment is ${missing} sats short of what the ${what} costs.`, { missing });

/** Whether a text is the stored reason of such a refusal. */
export const isShortfall = (reason: string): boolean => /^The payment is \d+ sats short of /u.test(reason);

/** The bounds of the public interface (section 8). */
export const orderBounds = {
  files: 10_000,
  postageMin: 330n,
  postageMax: 10_000n,
  postageDefault: 546n,
  /** Nodes relay nothing below 0.1 sat/vB (Bitcoin Core's DEFAULT_MIN_RELAY_TX_FEE since 28.3). */
  feeRateMin: 100n,
  feeRateDefault: 2000n,
  /** Nodes refuse to send at a higher rate (Bitcoin Core's DEFAULT_MAX_RAW_TX_FEE_RATE, 0.1 BTC/kvB). */
  feeRateMax: 10_000_000n,
  /** A hundredth of a bitcoin: more is a mistake. */
  additionalFeeMax: 1_000_000n,
  /** Each is an input and an output of the reveal, and a tag of every envelope. */
  parents: 100,
  /**
   * Reveals of one order. 50 MB of files take 130. For each, an address is proven (3 ms) and a transaction is signed
   * (16 ms), and all other orders wait for that.
   */
  reveals: 150,
  /**
   * Mints of one order. A commit with that many outputs weighs 172,000 of the 400,000 that nodes relay. Signing takes
   * some milliseconds for each mint, and all other orders wait for that.
   */
  mints: 1000,
} as const;
