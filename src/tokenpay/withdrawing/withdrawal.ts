import type { Txid } from '#kernel/primitives/hash.ts';
import { satsAsset } from '#purse/ledger/ledger.ts';

/**
 * The states of a withdrawal. `pending`: its units are reserved. `processing`: a transaction with it is signed, and a
 * node may have that transaction. `completed`: a block and the ledger have it. `error`: it can never be mined, and its
 * units are free again. A reorganisation makes a completed withdrawal `processing` again.
 */
export const withdrawalStates = ['pending', 'processing', 'completed', 'error'] as const;
export type WithdrawalState = (typeof withdrawalStates)[number];

/**
 * The source of the miner's fee, and of the sats beneath runes. `balance`: sats of the account. `withdrawal`: the
 * withdrawn sats. `operator`: the service.
 */
export const withdrawalPayers = ['balance', 'withdrawal', 'operator'] as const;
export type WithdrawalPayer = (typeof withdrawalPayers)[number];

/** The price of a withdrawal, fixed when it is stored. In sats. */
export interface WithdrawalPrice {
  /** Sats for the miner. */
  readonly fee: bigint;
  /** Sats beneath runes: the minimum that nodes relay to the receiver. 0 if sats are withdrawn. */
  readonly postage: bigint;
  readonly payer: WithdrawalPayer;
}

/** A withdrawal that an account requests. */
export interface NewWithdrawal extends WithdrawalPrice {
  readonly id: string;
  readonly account: string;
  /** The number in service.assets. */
  readonly asset: number;
  /** Requested amount in base units. */
  readonly amount: bigint;
  readonly script: Uint8Array;
  readonly address: string;
  /** Requested fee rate in sats per 1,000 virtual bytes. null: the node's rate. */
  readonly feeRate: bigint | null;
  readonly webhookUrl: string | null;
  /** The public key of the service's secret from which the webhook secret is derived. null: no webhook. */
  readonly secretKey: Uint8Array | null;
}

export interface Withdrawal extends NewWithdrawal {
  readonly createdAt: Date;
  readonly state: WithdrawalState;
  /** The reason why the withdrawal waits or has ended, for people. */
  readonly reason: string | null;
  /** The payout that is the withdrawal's batch. null: no batch so far. */
  readonly payout: string | null;
  /** Whether a batch with this withdrawal failed. If so, the withdrawal gets its own batch. */
  readonly isAlone: boolean;
  /** The batch's transaction that is mined or may be mined. */
  readonly txid: Txid | null;
  /** The fee rate of this transaction, in sats per 1,000 virtual bytes. */
  readonly paidRate: bigint | null;
  /** Number of transactions of the batch so far. */
  readonly tries: number;
  readonly processingAt: Date | null;
  /**
   * The time at which the account asked to cancel the withdrawal. After this time, no transaction with it is signed.
   * null: the account did not ask.
   */
  readonly cancelAskedAt: Date | null;
}

/** Base units that the receiver gets. */
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
 * Everything that leaves the account, which service.withdrawals reserves: the withdrawn units, and sats in addition to
 * runes. Pure.
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
