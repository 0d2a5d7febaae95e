import type { Txid } from '#kernel/primitives/hash.ts';
import { satsAsset } from '#purse/ledger/ledger.ts';

/**
 * States of a withdrawal:
 *
 * - `pending`: its units are reserved.
 * - `processing`: a transaction with the withdrawal is signed, and a node may have this transaction.
 * - `completed`: a block and the ledger have the withdrawal.
 * - `error`: the withdrawal can never be mined, and its units are free again.
 *
 * A reorganisation makes a completed withdrawal `processing` again.
 */
export const withdrawalStates = ['pending', 'processing', 'completed', 'error'] as const;
export type WithdrawalState = (typeof withdrawalStates)[number];

/**
 * Who pays the miner's fee, and the sats of outputs that carry runes. `balance`: the account's sats. `withdrawal`: the
 * withdrawn sats. `operator`: the service.
 */
export const withdrawalPayers = ['balance', 'withdrawal', 'operator'] as const;
export type WithdrawalPayer = (typeof withdrawalPayers)[number];

/** The price of a withdrawal in sats. It does not change after the withdrawal is stored. */
export interface WithdrawalPrice {
  /** The miner's fee in sats. */
  readonly fee: bigint;
  /**
   * Sats of the output that carries runes. This is the minimum that nodes relay to the receiver. 0 if sats are
   * withdrawn.
   */
  readonly postage: bigint;
  readonly payer: WithdrawalPayer;
}

/** A withdrawal that an account requests. */
export interface NewWithdrawal extends WithdrawalPrice {
  readonly id: string;
  readonly account: string;
  /** Number in service.assets. */
  readonly asset: number;
  /** Requested amount in base units. */
  readonly amount: bigint;
  readonly script: Uint8Array;
  readonly address: string;
  /** Requested fee rate in sats per 1,000 virtual bytes. Null means the node's rate. */
  readonly feeRate: bigint | null;
  readonly webhookUrl: string | null;
  /** Public key of the service's secret from which the webhook secret is derived. Null if there is no webhook. */
  readonly secretKey: Uint8Array | null;
}

export interface Withdrawal extends NewWithdrawal {
  readonly createdAt: Date;
  readonly state: WithdrawalState;
  /** The reason why the withdrawal waits or has ended, in words for people. */
  readonly reason: string | null;
  /** The payout that is the withdrawal's batch, or null if there is no batch yet. */
  readonly payout: string | null;
  /** Whether a batch with this withdrawal has failed. If so, the next batch contains only this withdrawal. */
  readonly isAlone: boolean;
  /** The transaction of the batch that is mined or can still be mined. */
  readonly txid: Txid | null;
  /** The fee rate of this transaction, in sats per 1,000 virtual bytes. */
  readonly paidRate: bigint | null;
  /** Number of transactions of the batch so far. */
  readonly tries: number;
  readonly processingAt: Date | null;
  /**
   * The time at which the account requested to cancel the withdrawal. After this time, no transaction with the
   * withdrawal is signed. Null if there was no such request.
   */
  readonly cancelAskedAt: Date | null;
}

/** Base units that the receiver of a withdrawal gets. */
export const receivedUnits = ({
  amount,
  fee,
  payer,
}: Pick<Withdrawal, 'amount' | 'fee' | 'payer'>): bigint => (payer === 'withdrawal' ? amount - fee : amount);

/** Sats of the output that pays the receiver. */
export const receivedSats = (
  withdrawal: Pick<Withdrawal, 'asset' | 'amount' | 'fee' | 'postage' | 'payer'>,
): bigint => (withdrawal.asset === satsAsset ? receivedUnits(withdrawal) : withdrawal.postage);

/** Units of an asset that a withdrawal reserves in the balance of its account. */
export interface ReservedUnits {
  readonly asset: number;
  readonly units: bigint;
}

/**
 * All units that a withdrawal takes out of the account: the withdrawn units, and the sats that are paid in addition to
 * runes. service.withdrawals reserves them. Pure.
 */
export function reservedOf({
  asset,
  amount,
  fee,
  postage,
  payer,
}: Pick<Withdrawal, 'asset' | 'amount' | 'fee' | 'postage' | 'payer'>): ReservedUnits[] {
  const charged = payer === 'balance' ? fee + postage : 0n;
  if (asset === satsAsset) return [{ asset, units: amount + charged }];
  return charged === 0n
    ? [{ asset, units: amount }]
    : [
        { asset: satsAsset, units: charged },
        { asset, units: amount },
      ];
}
