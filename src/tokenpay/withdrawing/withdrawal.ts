import type { Txid } from '#kernel/primitives/hash.ts';
import { satsAsset } from '#purse/ledger/ledger.ts';

/**
 * `pending`: its units are reserved. `processing`: a transaction with it is signed, and a node may have it.
 * `completed`: a block has it, and so has the ledger. `error`: it can never be mined, and its units are free again. A
 * reorganisation makes a completed one `processing`.
 */
export const withdrawalStates = ['pending', 'processing', 'completed', 'error'] as const;
export type WithdrawalState = (typeof withdrawalStates)[number];

/**
 * The source of the miner's fee, and of the sats beneath runes. `balance`: sats of the account. `withdrawal`: the
 * withdrawn sats. `operator`: the service.
 */
export const withdrawalPayers = ['balance', 'withdrawal', 'operator'] as const;
export type WithdrawalPayer = (typeof withdrawalPayers)[number];

/** The price of a withdrawal, which is fixed before it is asked for. Sats. */
export interface WithdrawalPrice {
  /** For the miner. */
  readonly fee: bigint;
  /** Beneath runes: the least that nodes relay to the receiver. 0 if sats are withdrawn. */
  readonly postage: bigint;
  readonly payer: WithdrawalPayer;
}

/** A withdrawal that an account asks for. */
export interface NewWithdrawal extends WithdrawalPrice {
  readonly id: string;
  readonly account: string;
  /** Its number in service.assets. */
  readonly asset: number;
  /** Requested base units. */
  readonly amount: bigint;
  readonly script: Uint8Array;
  readonly address: string;
  /** Requested sats for 1,000 virtual bytes; null: the node's rate. */
  readonly feeRate: bigint | null;
  readonly webhookUrl: string | null;
  /** Public key of the service's secret that its webhook secret is derived from; null: it has no webhook. */
  readonly secretKey: Uint8Array | null;
}

export interface Withdrawal extends NewWithdrawal {
  readonly createdAt: Date;
  readonly state: WithdrawalState;
  /** Why it waits or has ended, for people. */
  readonly reason: string | null;
  /** The payout that is its batch; null: no batch so far. */
  readonly payout: string | null;
  /** Whether a batch with it failed: it gets a batch of its own. */
  readonly isAlone: boolean;
  /** The transaction of its batch that is mined or may be mined. */
  readonly txid: Txid | null;
  /** Sats for 1,000 virtual bytes that this transaction pays. */
  readonly paidRate: bigint | null;
  /** Transactions of its batch so far. */
  readonly tries: number;
  readonly processingAt: Date | null;
  /** The time at which its account asked to cancel it: after that, nothing of it is signed. Null: it did not ask. */
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

/** Units of an asset that a withdrawal takes from its account. */
export interface ReservedUnits {
  readonly asset: number;
  readonly units: bigint;
}

/**
 * Everything that leaves the account, as service.withdrawals reserves it: its units, and sats in addition to runes.
 * Pure.
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
