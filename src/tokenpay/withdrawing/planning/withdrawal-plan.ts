import type { DestinationFault } from '#kernel/bitcoin/destination.ts';
import type { RuneAmount } from '#kernel/contracts/holdings.ts';
import type { PlannedRunes, WalletKey } from '#kernel/contracts/transaction-plan.ts';
import type { Txid } from '#kernel/primitives/hash.ts';
import type { RuneId } from '#kernel/runes/rune-id.ts';

/**
 * A confirmed coin of accounts that has only sats and runes: no inscription, no special sat, not set aside. The caller
 * guarantees this.
 */
export interface WithdrawalCoin {
  readonly txid: Txid;
  readonly vout: number;
  /** Value in sats. */
  readonly value: bigint;
  readonly script: Uint8Array;
  /** The key that spends the coin, without a leaf. */
  readonly key: WalletKey;
  /** The account that was credited with the coin. null: the coin is change of an earlier batch. */
  readonly owner: string | null;
  /** All runes in the coin. */
  readonly runes: readonly RuneAmount[];
}

/** The asset, amount and receiver of a withdrawal. */
export interface AskedWithdrawal {
  readonly id: string;
  readonly account: string;
  /** null: the asset is sats. */
  readonly rune: RuneId | null;
  /**
   * Base units of the asset that the account gives, above 0. For a withdrawal of sats that pays the fee, they include
   * the fee.
   */
  readonly units: bigint;
  readonly script: Uint8Array;
}

/** A withdrawal with its price. Its output is fixed and does not depend on the cost of the transaction. */
export interface PricedWithdrawal extends AskedWithdrawal {
  /**
   * Sats of the output. A withdrawal of sats has at most `units`; a withdrawal of runes has the postage beneath the
   * runes.
   */
  readonly sats: bigint;
}

/** Bounds of one transaction. */
export interface WithdrawalLimits {
  /** Maximum number of bytes of OP_RETURN scripts that the node relays (`askDataCarrier`). */
  readonly dataCarrierBytes: number;
  /** Maximum number of coins that one withdrawal takes. */
  readonly inputsMax: number;
  /** Maximum weight of a transaction, in weight units. */
  readonly weightMax: number;
}

/** A transaction that the plan replaces (BIP 125) and whose fee the plan must exceed. */
export interface ReplacedFee {
  readonly fee: bigint;
  readonly virtualBytes: number;
  /** The node's incremental fee rate, in sats per 1,000 virtual bytes. */
  readonly incrementalFeeRate: bigint;
}

export interface WithdrawalBatch {
  /** Withdrawals, in the order of the requests. */
  readonly withdrawals: readonly PricedWithdrawal[];
  /** Free coins. Their order does not matter. */
  readonly coins: readonly WithdrawalCoin[];
  /** Coins of the replaced transaction. All of them are spent again. Empty: the batch replaces nothing. */
  readonly kept: readonly WithdrawalCoin[];
  readonly replaced: ReplacedFee | null;
  /** Sats per 1,000 virtual bytes, above 0. */
  readonly feeRate: bigint;
  /** The script of both changes: for runes and for sats. */
  readonly change: Uint8Array;
  readonly limits: WithdrawalLimits;
}

export interface WithdrawalOutput {
  /** `burn`: the runestone, with 0 sats. */
  readonly kind: 'change' | 'withdrawal' | 'burn';
  readonly script: Uint8Array;
  readonly value: bigint;
  /** The id of the withdrawal. null: another kind of output. */
  readonly withdrawal: string | null;
  /** Units that the output gets. */
  readonly runes: readonly RuneAmount[];
}

/**
 * One transaction. Invariants: the sats of the inputs equal the sats of the outputs plus the fee; each unit of each
 * rune in the inputs goes to its receiver or to the change; no output is dust; the fee fits the weight.
 */
export interface WithdrawalPlan {
  readonly inputs: readonly WithdrawalCoin[];
  /**
   * Sorted: the change with all remaining runes, if inputs have runes; the change of sats, if enough sats remain;
   * receivers of runes; receivers of sats; the runestone.
   */
  readonly outputs: readonly WithdrawalOutput[];
  readonly fee: bigint;
  /** Sats of the fee above its rate, because they are too few for a change. */
  readonly overpaid: bigint;
  /** Exact weight units of the signed transaction. */
  readonly weight: number;
  /** The runes, for the signer. null: the inputs hold no runes. */
  readonly runes: PlannedRunes | null;
}

/** A withdrawal that can never be sent in its present form. */
export type WithdrawalRefusal =
  | { readonly code: 'amount' }
  | { readonly code: 'destination'; readonly fault: DestinationFault; readonly reason: string }
  /** The output would have `sats`, but nodes relay only outputs of at least `least`. */
  | { readonly code: 'dust'; readonly sats: bigint; readonly least: bigint }
  /**
   * The withdrawal needs more than `inputsMax` coins of its own account. The allowed coins have `most` units of the
   * asset. `most` null: they have too few sats for the fee.
   */
  | { readonly code: 'inputs'; readonly most: bigint | null; readonly inputsMax: number }
  /** The runestone of this withdrawal alone has more bytes than the node relays. */
  | { readonly code: 'runestone'; readonly bytes: number; readonly bytesMax: number }
  /** A transaction with only this withdrawal is too large. */
  | { readonly code: 'weight'; readonly weight: number; readonly weightMax: number }
  /** The balance lacks `missing` sats, even with the maximum debt. */
  | { readonly code: 'sats'; readonly missing: bigint }
  /** The withdrawal may spend only coins of its own account, but these do not suffice. */
  | { readonly code: 'own' };

/** The reason why a withdrawal must wait for another batch. */
export type WithdrawalWait =
  /** Free coins of the account, and free coins without an owner, have too few units or sats. */
  | { readonly code: 'coins'; readonly missing: bigint; readonly asset: 'units' | 'sats' }
  /** The withdrawal needs more than `inputsMax` coins, including ownerless coins that are free now. */
  | { readonly code: 'inputs' }
  /** The runestone has no room left. */
  | { readonly code: 'runestone' }
  /** The transaction has no room left. */
  | { readonly code: 'weight' };

/** The transaction of a batch, and the withdrawals that are not in it. */
export interface PlannedBatch {
  /** null: no withdrawal can be sent now. */
  readonly plan: WithdrawalPlan | null;
  readonly waiting: readonly { readonly id: string; readonly wait: WithdrawalWait }[];
  readonly refused: readonly { readonly id: string; readonly refusal: WithdrawalRefusal }[];
}

export interface QuoteRequest {
  readonly asked: AskedWithdrawal;
  /** Withdrawals of the same account without a signed transaction. They take coins first. */
  readonly before: readonly PricedWithdrawal[];
  /** Free coins of the account, and free coins without an owner. Other coins are ignored. */
  readonly coins: readonly WithdrawalCoin[];
  /**
   * Whether the withdrawal spends only coins of its own account. At a low fee rate, it would otherwise block coins of
   * others for days.
   */
  readonly isOwnOnly: boolean;
  /**
   * The setting WITHDRAW_FEE_PAYER. `account`: the account's balance of sats pays; if it lacks the fee, a withdrawal of
   * sats pays the fee itself. `operator`: the operator pays; but the account pays if the withdrawal spends coins of the
   * account that cost more than they bring.
   */
  readonly feePayer: 'account' | 'operator';
  /** The balance of sats without the reserved sats. Below 0: a debt. */
  readonly balance: bigint;
  /** The maximum debt, at least 0. Only withdrawals of runes can cause a debt. */
  readonly debtMax: bigint;
  readonly feeRate: bigint;
  readonly change: Uint8Array;
  readonly limits: WithdrawalLimits;
}

/** Sats of a withdrawal, and who pays them. */
export interface WithdrawalPrice {
  readonly kind: 'price';
  /** Sats of the withdrawal's output. */
  readonly sats: bigint;
  /** The chain fee of a transaction with only this withdrawal. */
  readonly fee: bigint;
  /** Sats beneath runes. 0 if sats are withdrawn. */
  readonly postage: bigint;
  /** The source of fee and postage. */
  readonly payer: 'withdrawal' | 'balance' | 'operator';
  /** Number of sats that the withdrawal takes from the balance of sats. */
  readonly fromBalance: bigint;
  /** Number of sats that the operator pays. */
  readonly fromOperator: bigint;
  /** The part of `fromBalance` that the balance does not have. */
  readonly debt: bigint;
  /** Number of coins that the withdrawal takes. */
  readonly inputs: number;
  readonly virtualBytes: number;
}

export type Quote = WithdrawalPrice | ({ readonly kind: 'refused' } & WithdrawalRefusal);
