import type { DestinationFault } from '#kernel/bitcoin/destination.ts';
import type { RuneAmount } from '#kernel/contracts/holdings.ts';
import type { PlannedRunes, WalletKey } from '#kernel/contracts/transaction-plan.ts';
import type { Txid } from '#kernel/primitives/hash.ts';
import type { RuneId } from '#kernel/runes/rune-id.ts';

/**
 * A confirmed coin of accounts, with only sats and runes: no inscription, no special sat, not set aside. The caller
 * guarantees that.
 */
export interface WithdrawalCoin {
  readonly txid: Txid;
  readonly vout: number;
  /** Sats. */
  readonly value: bigint;
  readonly script: Uint8Array;
  /** Spent by key, without a leaf. */
  readonly key: WalletKey;
  /** The account that was credited with it; null: it is change of an earlier batch. */
  readonly owner: string | null;
  /** All runes in it. */
  readonly runes: readonly RuneAmount[];
}

/** The asset, amount and receiver of a withdrawal. */
export interface AskedWithdrawal {
  readonly id: string;
  readonly account: string;
  /** Null: sats. */
  readonly rune: RuneId | null;
  /**
   * Base units of the asset that the account gives, above 0. For sats: including the fee, if the withdrawal pays it.
   */
  readonly units: bigint;
  readonly script: Uint8Array;
}

/** A withdrawal with its price. Its output is fixed, whatever the transaction costs. */
export interface PricedWithdrawal extends AskedWithdrawal {
  /** Sats of its output: at most `units` for a withdrawal of sats; the postage beneath runes. */
  readonly sats: bigint;
}

/** Bounds of one transaction. */
export interface WithdrawalLimits {
  /** Bytes of OP_RETURN scripts that the node relays (`askDataCarrier`). */
  readonly dataCarrierBytes: number;
  /** Most coins that one withdrawal takes. */
  readonly inputsMax: number;
  /** Weight units of a transaction. */
  readonly weightMax: number;
}

/** A transaction that the plan replaces (BIP 125), with a higher fee. */
export interface ReplacedFee {
  readonly fee: bigint;
  readonly virtualBytes: number;
  /** Sats for 1,000 virtual bytes, of the node. */
  readonly incrementalFeeRate: bigint;
}

export interface WithdrawalBatch {
  /** In the order of the requests. */
  readonly withdrawals: readonly PricedWithdrawal[];
  /** Free coins, in any order. */
  readonly coins: readonly WithdrawalCoin[];
  /** Coins of the transaction that it replaces: all are spent again. Empty: it replaces nothing. */
  readonly kept: readonly WithdrawalCoin[];
  readonly replaced: ReplacedFee | null;
  /** Sats for 1,000 virtual bytes, above 0. */
  readonly feeRate: bigint;
  /** The script of both changes. */
  readonly change: Uint8Array;
  readonly limits: WithdrawalLimits;
}

export interface WithdrawalOutput {
  /** `burn`: the runestone, with 0 sats. */
  readonly kind: 'change' | 'withdrawal' | 'burn';
  readonly script: Uint8Array;
  readonly value: bigint;
  /** The id of its withdrawal; null: another kind of output. */
  readonly withdrawal: string | null;
  /** Units that it gets. */
  readonly runes: readonly RuneAmount[];
}

/**
 * One transaction. Invariants: the sats of the inputs are those of the outputs and the fee; each unit of each rune of
 * the inputs goes to its receiver or to the change; no output is dust; the fee fits its weight.
 */
export interface WithdrawalPlan {
  readonly inputs: readonly WithdrawalCoin[];
  /**
   * In this order: change with all remaining runes, if inputs have runes; change of sats, if there is enough for it;
   * receivers of runes; receivers of sats; the runestone.
   */
  readonly outputs: readonly WithdrawalOutput[];
  readonly fee: bigint;
  /** Sats of the fee above its rate: too few for a change. */
  readonly overpaid: bigint;
  /** Exact weight units of the signed transaction. */
  readonly weight: number;
  /** For the signer; null: its inputs hold no runes. */
  readonly runes: PlannedRunes | null;
}

/** A withdrawal that can never be sent in its present form. */
export type WithdrawalRefusal =
  | { readonly code: 'amount' }
  | { readonly code: 'destination'; readonly fault: DestinationFault; readonly reason: string }
  /** Its output would have `sats`, and nodes relay `least`. */
  | { readonly code: 'dust'; readonly sats: bigint; readonly least: bigint }
  /**
   * It needs more than `inputsMax` coins of its own account, which have `most` units of the asset; null: too few sats
   * for the fee.
   */
  | { readonly code: 'inputs'; readonly most: bigint | null; readonly inputsMax: number }
  /** Its runestone alone has more bytes than the node relays. */
  | { readonly code: 'runestone'; readonly bytes: number; readonly bytesMax: number }
  /** Its transaction alone is too large. */
  | { readonly code: 'weight'; readonly weight: number; readonly weightMax: number }
  /** The balance of sats lacks `missing`, beyond the largest debt. */
  | { readonly code: 'sats'; readonly missing: bigint }
  /** It may spend only coins of its own account, and they do not suffice. */
  | { readonly code: 'own' };

/** The reason why a withdrawal must wait for another batch. */
export type WithdrawalWait =
  /** Free coins of its account, and those without an owner, have too few units or sats. */
  | { readonly code: 'coins'; readonly missing: bigint; readonly asset: 'units' | 'sats' }
  /** It needs more than `inputsMax` coins, including those without an owner that are free now. */
  | { readonly code: 'inputs' }
  /** The runestone is full. */
  | { readonly code: 'runestone' }
  /** The transaction is full. */
  | { readonly code: 'weight' };

/** The transaction of a batch, and the withdrawals that are not in it. */
export interface PlannedBatch {
  /** Null: no withdrawal can be sent now. */
  readonly plan: WithdrawalPlan | null;
  readonly waiting: readonly { readonly id: string; readonly wait: WithdrawalWait }[];
  readonly refused: readonly { readonly id: string; readonly refusal: WithdrawalRefusal }[];
}

export interface QuoteRequest {
  readonly asked: AskedWithdrawal;
  /** Withdrawals of the same account without a signed transaction: their coins are taken first. */
  readonly before: readonly PricedWithdrawal[];
  /** Free coins of the account, and those without an owner. Others are ignored. */
  readonly coins: readonly WithdrawalCoin[];
  /** Whether it spends only coins of its own account: at a low rate, it would block coins of others for days. */
  readonly isOwnOnly: boolean;
  /**
   * WITHDRAW_FEE_PAYER. `account`: its balance of sats; for sats the withdrawal itself if the balance lacks the fee.
   * `operator`: the account pays, too, if the withdrawal spends coins of it that cost more than they bring.
   */
  readonly feePayer: 'account' | 'operator';
  /** The balance of sats less the reserved ones; below 0: a debt. */
  readonly balance: bigint;
  /** The largest debt, from 0. Only withdrawals of runes can cause a debt. */
  readonly debtMax: bigint;
  readonly feeRate: bigint;
  readonly change: Uint8Array;
  readonly limits: WithdrawalLimits;
}

/** Sats of a withdrawal, and who pays them. */
export interface WithdrawalPrice {
  readonly kind: 'price';
  /** Sats of its output. */
  readonly sats: bigint;
  /** The chain fee of a transaction with only this withdrawal. */
  readonly fee: bigint;
  /** Sats beneath runes; 0 for sats. */
  readonly postage: bigint;
  /** The source of fee and postage. */
  readonly payer: 'withdrawal' | 'balance' | 'operator';
  /** All sats that the withdrawal takes from the balance of sats. */
  readonly fromBalance: bigint;
  /** Sats from the operator. */
  readonly fromOperator: bigint;
  /** The part of `fromBalance` that the balance does not have. */
  readonly debt: bigint;
  /** Number of coins that it takes. */
  readonly inputs: number;
  readonly virtualBytes: number;
}

export type Quote = WithdrawalPrice | ({ readonly kind: 'refused' } & WithdrawalRefusal);
