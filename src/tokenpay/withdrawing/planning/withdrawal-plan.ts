import type { DestinationFault } from '#kernel/bitcoin/destination.ts';
import type { RuneAmount } from '#kernel/contracts/holdings.ts';
import type { PlannedRunes, WalletKey } from '#kernel/contracts/transaction-plan.ts';
import type { Txid } from '#kernel/primitives/hash.ts';
import type { RuneId } from '#kernel/runes/rune-id.ts';

/**
 * A confirmed coin of accounts that has only sats and runes. The caller guarantees that it has no inscription and no
 * special sat, and is not set aside.
 */
export interface WithdrawalCoin {
  readonly txid: Txid;
  readonly vout: number;
  /** Value in sats. */
  readonly value: bigint;
  readonly script: Uint8Array;
  /** The key that spends the coin, without a leaf. */
  readonly key: WalletKey;
  /** The account to which the coin was credited, or null if the coin is change of an earlier batch. */
  readonly owner: string | null;
  /** All runes in the coin. */
  readonly runes: readonly RuneAmount[];
}

/** The asset, amount and receiver of a withdrawal. */
export interface AskedWithdrawal {
  readonly id: string;
  readonly account: string;
  /** The rune, or null if the asset is sats. */
  readonly rune: RuneId | null;
  /** Base units that leave the account, above 0. If a withdrawal of sats pays the fee, they include the fee. */
  readonly units: bigint;
  readonly script: Uint8Array;
}

/** A withdrawal with its price. Its output is fixed, so the cost of the transaction does not change the output. */
export interface PricedWithdrawal extends AskedWithdrawal {
  /**
   * Sats of the output. If sats are withdrawn, at most `units`. If runes are withdrawn, the postage that carries the
   * runes.
   */
  readonly sats: bigint;
}

/** Limits of one transaction. */
export interface WithdrawalLimits {
  /** Maximum number of bytes of OP_RETURN scripts that the node relays (`askDataCarrier`). */
  readonly dataCarrierBytes: number;
  /** Maximum number of coins for one withdrawal. */
  readonly inputsMax: number;
  /** Maximum weight of a transaction, in weight units. */
  readonly weightMax: number;
}

/**
 * A transaction that the plan replaces (BIP 125). The fee of the plan must be higher than the fee of this transaction.
 */
export interface ReplacedFee {
  readonly fee: bigint;
  readonly virtualBytes: number;
  /** The node's incremental fee rate, in sats per 1,000 virtual bytes. */
  readonly incrementalFeeRate: bigint;
}

export interface WithdrawalBatch {
  /** Withdrawals in the order of their requests. */
  readonly withdrawals: readonly PricedWithdrawal[];
  /** Free coins, in any order. */
  readonly coins: readonly WithdrawalCoin[];
  /**
   * Coins of the replaced transaction. All of them are spent again. The list is empty if the batch replaces nothing.
   */
  readonly kept: readonly WithdrawalCoin[];
  readonly replaced: ReplacedFee | null;
  /** Fee rate in sats per 1,000 virtual bytes, above 0. */
  readonly feeRate: bigint;
  /** Script of both changes: the change for runes and the change for sats. */
  readonly change: Uint8Array;
  readonly limits: WithdrawalLimits;
}

export interface WithdrawalOutput {
  /** Kind of the output. `burn` is the runestone, with 0 sats. */
  readonly kind: 'change' | 'withdrawal' | 'burn';
  readonly script: Uint8Array;
  readonly value: bigint;
  /** The id of the withdrawal, or null for other kinds of outputs. */
  readonly withdrawal: string | null;
  /** Units that the output gets. */
  readonly runes: readonly RuneAmount[];
}

/**
 * A plan for one transaction. Invariants: the sats of the inputs equal the sats of the outputs plus the fee; each unit
 * of each rune in the inputs goes to its receiver or to the change; no output is dust; the fee matches the weight.
 */
export interface WithdrawalPlan {
  readonly inputs: readonly WithdrawalCoin[];
  /**
   * Outputs in this sequence:
   *
   * - the change with all remaining runes, if the inputs have runes;
   * - the change for sats, if enough sats remain;
   * - receivers of runes;
   * - receivers of sats;
   * - the runestone.
   */
  readonly outputs: readonly WithdrawalOutput[];
  readonly fee: bigint;
  /** Sats of the fee above its rate. They are too few for a change. */
  readonly overpaid: bigint;
  /** Weight of the signed transaction, exact, in weight units. */
  readonly weight: number;
  /** The runes, for the signer. Null if the inputs hold no runes. */
  readonly runes: PlannedRunes | null;
}

/** The reason why a withdrawal can never be sent in its current form. */
export type WithdrawalRefusal =
  | { readonly code: 'amount' }
  | { readonly code: 'destination'; readonly fault: DestinationFault; readonly reason: string }
  /** The output would have only `sats`, but nodes relay only outputs with at least `least` sats. */
  | { readonly code: 'dust'; readonly sats: bigint; readonly least: bigint }
  /**
   * The withdrawal needs more than `inputsMax` coins of its own account. The allowed number of coins has only `most`
   * units of the asset. If `most` is null, these coins have too few sats for the fee.
   */
  | { readonly code: 'inputs'; readonly most: bigint | null; readonly inputsMax: number }
  /** A runestone for only this withdrawal has more bytes than the node relays. */
  | { readonly code: 'runestone'; readonly bytes: number; readonly bytesMax: number }
  /** A transaction with only this withdrawal is too large. */
  | { readonly code: 'weight'; readonly weight: number; readonly weightMax: number }
  /** The balance is `missing` sats short, even with the maximum debt. */
  | { readonly code: 'sats'; readonly missing: bigint }
  /** The withdrawal may spend only coins of its own account, but these are not enough. */
  | { readonly code: 'own' };

/** The reason why a withdrawal must wait for another batch. */
export type WithdrawalWait =
  /** The free coins of the account and the free coins without an owner do not have enough units or sats. */
  | { readonly code: 'coins'; readonly missing: bigint; readonly asset: 'units' | 'sats' }
  /** The withdrawal needs more than `inputsMax` coins. This includes coins without an owner that are free now. */
  | { readonly code: 'inputs' }
  /** The runestone has no room left. */
  | { readonly code: 'runestone' }
  /** The transaction has no room left. */
  | { readonly code: 'weight' };

/** The transaction of a batch, and the withdrawals that are not in this transaction. */
export interface PlannedBatch {
  /** The plan, or null if no withdrawal can be sent now. */
  readonly plan: WithdrawalPlan | null;
  readonly waiting: readonly { readonly id: string; readonly wait: WithdrawalWait }[];
  readonly refused: readonly { readonly id: string; readonly refusal: WithdrawalRefusal }[];
}

export interface QuoteRequest {
  readonly asked: AskedWithdrawal;
  /** Earlier withdrawals of the same account without a signed transaction. These take coins first. */
  readonly before: readonly PricedWithdrawal[];
  /** Free coins of the account, and free coins without an owner. All other coins are ignored. */
  readonly coins: readonly WithdrawalCoin[];
  /**
   * Whether the withdrawal spends only coins of its own account. Otherwise, at a low fee rate, it would block coins of
   * other accounts for days.
   */
  readonly isOwnOnly: boolean;
  /**
   * The setting WITHDRAW_FEE_PAYER:
   *
   * - `account`: the account's balance of sats pays. If the balance is too low for the fee, a withdrawal of sats pays
   *   the fee itself.
   * - `operator`: the operator pays. But the account pays if the withdrawal spends coins of the account that cost more
   *   than their value.
   */
  readonly feePayer: 'account' | 'operator';
  /** The balance of sats, without the reserved sats. Negative if the account has a debt. */
  readonly balance: bigint;
  /** The maximum debt, at least 0. Only withdrawals of runes can cause a debt. */
  readonly debtMax: bigint;
  readonly feeRate: bigint;
  readonly change: Uint8Array;
  readonly limits: WithdrawalLimits;
}

/** The price of a withdrawal in sats, and who pays it. */
export interface WithdrawalPrice {
  readonly kind: 'price';
  /** Sats of the withdrawal's output. */
  readonly sats: bigint;
  /** The miner's fee of a transaction with only this withdrawal. */
  readonly fee: bigint;
  /** Sats of the output that carries runes. 0 if sats are withdrawn. */
  readonly postage: bigint;
  /** Who pays the fee and the postage. */
  readonly payer: 'withdrawal' | 'balance' | 'operator';
  /** Number of sats that the withdrawal takes from the balance of sats. */
  readonly fromBalance: bigint;
  /** Number of sats that the operator pays. */
  readonly fromOperator: bigint;
  /** The part of `fromBalance` that is not in the balance. */
  readonly debt: bigint;
  /** Number of coins that the withdrawal takes. */
  readonly inputs: number;
  readonly virtualBytes: number;
}

export type Quote = WithdrawalPrice | ({ readonly kind: 'refused' } & WithdrawalRefusal);
