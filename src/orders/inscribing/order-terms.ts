import type { InscriptionId } from '#kernel/primitives/inscription-id.ts';
import type { RuneId } from '#kernel/runes/rune-id.ts';
import type { Etching } from '#kernel/runes/runestone/artifact.ts';
import type { SpacedRune } from '#kernel/runes/spaced-rune.ts';

/** The bytes of a content, or only their number. The number is enough for a price. */
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
  /** Value of the output that contains the sat, in sats. */
  readonly value: bigint;
  /** Number of sats in that output before the inventory sat: 0, or enough for an output. */
  readonly place: bigint;
}

/** Mints of one rune, each in a transaction of its own. */
export interface MintTerms extends SpacedRune {
  readonly id: RuneId;
  readonly count: number;
}

/**
 * How the inscriptions of a reveal are put into outputs: one output for each inscription, or one output for all. In a
 * shared output, the inscriptions are one postage apart.
 */
export type BatchMode = 'separate-outputs' | 'shared-output';

/** Fields of an order on which its transactions depend. */
export interface OrderTerms {
  /**
   * `direct`: the payment to the charge address is the commit output. `bulk`: the customer pays the wallet, which makes
   * its own commit.
   */
  readonly type: 'direct' | 'bulk';
  /** The files, in the sequence of their indexes. */
  readonly files: readonly FileTerms[];
  /**
   * Scripts of the receivers: one script for all files, or one for each file. Not used if the inscriptions are burned.
   */
  readonly receivers: readonly Uint8Array[];
  /**
   * Number of sats of each inscription's output. `least` means the smallest value that nodes relay to all receivers.
   */
  readonly postage: bigint | 'least';
  /** Fee rate in sats per 1,000 virtual bytes, the unit of Bitcoin Core. 2 sat/vB are 2,000. */
  readonly feeRate: bigint;
  readonly batchMode: BatchMode;
  readonly parents: readonly ParentTerms[];
  /** Whether to inscribe to an anchor and then send the anchor to an OP_RETURN output. */
  readonly burn: boolean;
  /** Whether to inscribe only in ways that ord's rules before the jubilee would not curse. */
  readonly uncurse: boolean;
  /** Sats per file that the customer pays for the referral. */
  readonly additionalFee: bigint;
  /** Whether there is a miner who takes reveals that nodes do not relay (above 400,000 weight units). */
  readonly nonStandard: boolean;
  /**
   * One inventory sat for each file, in the sequence of the files. Each sat is in its own output. Null if sats of the
   * payments are inscribed.
   */
  readonly inventory: readonly InventoryTerms[] | null;
  /**
   * The rune that the order's reveal etches. The premine goes to the receiver in its own output. Such an order may have
   * no files. Null if the order etches nothing.
   */
  readonly etching: Etching | null;
  /** Mints for the order's receiver. Such an order has no files and no reveals. Null if the order mints nothing. */
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

/**
 * The refusal of an order that cannot be made, or of a transaction that cannot be planned. A refusal is an expected
 * result, and is never thrown.
 */
export interface OrderRefusal {
  readonly kind: 'refused';
  readonly code: OrderRefusalCode;
  /** A sentence for people. */
  readonly reason: string;
  /** Index of the faulty file, if the fault concerns a single file. */
  readonly file?: number;
  /** Number of missing sats, if a payment is too small. */
  readonly missing?: bigint;
}

export const refused = (
  code: OrderRefusalCode,
  reason: string,
  more: Pick<OrderRefusal, 'file' | 'missing'> = {},
): OrderRefusal => ({ kind: 'refused', code, reason, ...more });

/** The refusal of payments that lack `missing` sats for their transaction. */
export const shortOf = (missing: bigint, what: 'order' | 'transaction'): OrderRefusal =>
  refused('payment-short', `The payment is ${missing} sats short of what the ${what} costs.`, { missing });

/** Whether a text is the reason of a `payment-short` refusal. Older orders store the text, so its words must stay. */
export const isShortfall = (reason: string): boolean => /^The payment is \d+ sats short of /u.test(reason);

/** Limits of the public interface (section 8). */
export const orderBounds = {
  files: 10_000,
  postageMin: 330n,
  postageMax: 10_000n,
  postageDefault: 546n,
  /**
   * Minimum fee rate. Nodes relay no transaction below 0.1 sat/vB (Bitcoin Core's DEFAULT_MIN_RELAY_TX_FEE since 28.3).
   */
  feeRateMin: 100n,
  feeRateDefault: 2000n,
  /**
   * Maximum fee rate. Nodes refuse to send a transaction at a higher rate (Bitcoin Core's DEFAULT_MAX_RAW_TX_FEE_RATE,
   * 0.1 BTC/kvB).
   */
  feeRateMax: 10_000_000n,
  /** Maximum additional fee: 0.01 bitcoin. A higher fee is probably a mistake. */
  additionalFeeMax: 1_000_000n,
  /** Maximum number of parents. Each parent is an input and an output of the reveal, and a tag in every envelope. */
  parents: 100,
  /**
   * Maximum number of reveals of one order. 50 MB of files need 130 reveals. For each reveal, an address is proven (3
   * ms) and a transaction is signed (16 ms), and all other orders wait meanwhile.
   */
  reveals: 150,
  /**
   * Maximum number of mints of one order. A commit with 1000 outputs weighs 172,000 of the 400,000 that nodes relay.
   * Signing takes a few milliseconds for each mint, and all other orders wait meanwhile.
   */
  mints: 1000,
} as const;
