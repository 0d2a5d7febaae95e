import type { DestinationFault } from '#kernel/bitcoin/destination.ts';
import type { RuneAmount } from '#kernel/contracts/holdings.ts';
import type { PlannedRunes, WalletKey } from '#kernel/contracts/transaction-plan.ts';
import type { Txid } from '#kernel/primitives/hash.ts';
import type { RuneId } from '#kernel/runes/rune-id.ts';

/**
 * A confirmed coin of accounts, with sats and runes alone: no inscription, no special sat, not set aside. The caller
 * answers for that.
 */
export interface WithdrawalCoin {
  readonly txid: Txid;
  readonly vout: number;
  /** Sats. */
  readonly value: bigint;
  readonly script: Uint8Array;
  /** Spent by key, without a leaf. */
  readonly key: WalletKey;
  /** The account that was credited with it; null: an earlier batch left it. */
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
  /** Base units that the account gives of the asset, above 0. Sats: with the fee, where that comes from them. */
  readonly units: bigint;
  readonly script: Uint8Array;
}

/** A withdrawal with its price. Its output is fixed, whatever the transaction costs. */
export interface PricedWithdrawal extends AskedWithdrawal {
  /** Sats of its output: at most `units` of a withdrawal of sats; the postage beneath runes. */
  readonly sats: bigint;
}

/** Bounds of one transaction. */
export interface WithdrawalLimits {
  /** Bytes of OP_RETURN scripts that the node relays (`askDataCarrier`). */
  readonly dataCarrierBytes: number;
  /** Coins that one withdrawal takes at most. */
  readonly inputsMax: number;
  /** Weight units of a transaction. */
  readonly weightMax: number;
}

/** A transaction that the plan takes the place of (BIP 125): it pays more than it. */
export interface ReplacedFee {
  readonly fee: bigint;
  readonly virtualBytes: number;
  /** Sats for 1,000 virtual bytes, of the node. */
  readonly incrementalFeeRate: bigint;
}

export interface WithdrawalBatch {
  /** In the order in which they were asked. */
  readonly withdrawals: readonly PricedWithdrawal[];
  /** Coins that are free, in any order. */
  readonly coins: readonly WithdrawalCoin[];
  /** Coins of the transaction that it replaces: all are spent again. Empty: it replaces none. */
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
  /** The id of its withdrawal; null: another kind. */
  readonly withdrawal: string | null;
  /** Units that it gets. */
  readonly runes: readonly RuneAmount[];
}

/**
 * One transaction. Invariants: sats of the inputs are those of the outputs and the fee; each unit of each rune of the
 * inputs goes to its receiver or to the change; no output is dust; the fee is that of its weight.
 */
export interface WithdrawalPlan {
  readonly inputs: readonly WithdrawalCoin[];
  /**
   * In this order: change with all runes that are left, where inputs have runes; change of sats, where there is enough
   * for it; receivers of runes; receivers of sats; the runestone.
   */
  readonly outputs: readonly WithdrawalOutput[];
  readonly fee: bigint;
  /** Sats of the fee beyond its rate: too few for a change. */
  readonly overpaid: bigint;
  /** Weight units once it is signed: exact. */
  readonly weight: number;
  /** For the signer; null: its inputs hold none. */
  readonly runes: PlannedRunes | null;
}

/** A withdrawal that can never be sent as it is. */
export type WithdrawalRefusal =
  | { readonly code: 'amount' }
  | { readonly code: 'destination'; readonly fault: DestinationFault; readonly reason: string }
  /** Its output would have `sats`, and nodes relay `least`. */
  | { readonly code: 'dust'; readonly sats: bigint; readonly least: bigint }
  /**
   * It needs more coins of its own account than `inputsMax`, which have `most` units of the asset; null: too few sats
   * for the fee.
   */
  | { readonly code: 'inputs'; readonly most: bigint | null; readonly inputsMax: number }
  /** Its runestone alone has more bytes than the node relays. */
  | { readonly code: 'runestone'; readonly bytes: number; readonly bytesMax: number }
  /** Its transaction alone is too large. */
  | { readonly code: 'weight'; readonly weight: number; readonly weightMax: number }
  /** The balance of sats lacks `missing`, beyond the largest debt. */
  | { readonly code: 'sats'; readonly missing: bigint }
  /** It may spend coins of its own account alone, and they do not suffice. */
  | { readonly code: 'own' };

/** A withdrawal that another batch sends. */
export type WithdrawalWait =
  /** Free coins of its account, and those without an owner, lack units or sats. */
  | { readonly code: 'coins'; readonly missing: bigint; readonly asset: 'units' | 'sats' }
  /** It needs more coins than `inputsMax` with those without an owner that are free now. */
  | { readonly code: 'inputs' }
  /** The runestone is full. */
  | { readonly code: 'runestone' }
  /** The transaction is full. */
  | { readonly code: 'weight' };

/** The transaction of a batch, and the withdrawals that are not in it. */
export interface PlannedBatch {
  /** Null: none can be sent now. */
  readonly plan: WithdrawalPlan | null;
  readonly waiting: readonly { readonly id: string; readonly wait: WithdrawalWait }[];
  readonly refused: readonly { readonly id: string; readonly refusal: WithdrawalRefusal }[];
}

export interface QuoteRequest {
  readonly asked: AskedWithdrawal;
  /** Withdrawals of the same account that no signed transaction has: their coins are taken first. */
  readonly before: readonly PricedWithdrawal[];
  /** Free coins of the account, and those without an owner. Others are ignored. */
  readonly coins: readonly WithdrawalCoin[];
  /** Whether it spends coins of its own account alone: at a low rate, it would keep those of others for days. */
  readonly isOwnOnly: boolean;
  /**
   * WITHDRAW_FEE_PAYER. `account`: its balance of sats; for sats the withdrawal itself where that lacks it.
   * `operator`: the account, too, where the withdrawal spends coins of it that cost more than they bring.
   */
  readonly feePayer: 'account' | 'operator';
  /** The balance of sats without what is reserved; below 0: a debt. */
  readonly balance: bigint;
  /** The largest debt, from 0. Only withdrawals of runes make one. */
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
  /** The chain fee of a transaction with this withdrawal alone. */
  readonly fee: bigint;
  /** Beneath runes; 0 for sats. */
  readonly postage: bigint;
  /** Pays fee and postage. */
  readonly payer: 'withdrawal' | 'balance' | 'operator';
  /** From the balance of sats: all that the withdrawal takes of it. */
  readonly fromBalance: bigint;
  /** From the operator. */
  readonly fromOperator: bigint;
  /** The part of `fromBalance` that the balance does not have. */
  readonly debt: bigint;
  /** Coins that it takes. */
  readonly inputs: number;
  readonly virtualBytes: number;
}

export type Quote = WithdrawalPrice | ({ readonly kind: 'refused' } & WithdrawalRefusal);
