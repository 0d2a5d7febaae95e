import type { WalletKey } from '#kernel/contracts/transaction-plan.ts';
import type { Txid } from '#kernel/primitives/hash.ts';
import type { PartnerAccount } from '#purse/ledger/ledger.ts';
import type { StoredHoldings } from '#purse/transactions/stored-holdings.ts';

/**
 * Kinds of payouts:
 *
 * - `referral` and `creator`: pay shares of partners. Each kind pays from the account of the same name.
 * - `revenue`: pays sats that the operator takes out.
 * - `return`: sends an output, which token payments set aside, as a whole.
 * - `withdrawal`: a batch of withdrawals of accounts.
 * - `consolidation`: joins small coins of accounts.
 *
 * Withdrawals and consolidations have no shares, because src/withdrawals plans them.
 */
export type PayoutKind = PartnerAccount | 'revenue' | 'return' | BatchKind;
type BatchKind = 'withdrawal' | 'consolidation';

/** Whether a payout spends coins of accounts. The change of such a payout belongs to the accounts. */
export const isBatch = (kind: PayoutKind): kind is BatchKind =>
  kind === 'withdrawal' || kind === 'consolidation';

/**
 * States of payouts:
 *
 * - `asked`: the shares are stored.
 * - `signed`: a transaction is stored.
 * - `sent`: a node has accepted the transaction.
 * - `mined`: a block and the ledger have the transaction.
 * - `settled`: the block is so deep that nothing changes the payout any more.
 * - `cancelled`: no transaction was signed, and the payout has ended.
 */
export const payoutStates = ['asked', 'signed', 'sent', 'mined', 'settled', 'cancelled'] as const;
export type PayoutState = (typeof payoutStates)[number];

/**
 * The account that pays. Each code has a separate `referral` account, and each creator's address a separate `creator`
 * account. `outside` means that no account pays, because the sats were never in the ledger.
 */
export type PayoutAccount = PartnerAccount | 'service' | 'operator' | 'outside';

/** Sats of one account that a payout pays to an address. */
export interface PayoutShare {
  readonly account: PayoutAccount;
  /** The code of a referral, or the address of a creator. Null if the account belongs to the service itself. */
  readonly owner: string | null;
  readonly script: Uint8Array;
  readonly address: string;
  readonly sats: bigint;
}

export interface Payout {
  readonly id: string;
  readonly kind: PayoutKind;
  readonly state: PayoutState;
  /** Index of the change output's key in branch 1, or null if nothing is planned yet. */
  readonly ownIndex: number | null;
  readonly stuck: string | null;
  /** The output that the payout sends as a whole, or null if the payout spends only free coins. */
  readonly spends: { readonly txid: Txid; readonly vout: number } | null;
  /** Requested fee rate in sats per 1,000 virtual bytes. Null means the node's rate. */
  readonly feeRate: bigint | null;
  /** Height of the tip at which an input of the transaction was first missing, or null if no input is missing. */
  readonly missingSince: number | null;
}

/** Facts about a payout from blocks and stored transactions. */
export interface PayoutFacts {
  /** Whether the payout has a transaction that is mined or can still be mined. */
  readonly isSigned: boolean;
  readonly isSent: boolean;
  /** Whether a transaction of the payout is in a block, and the ledger has its payments. */
  readonly isMined: boolean;
  readonly isDeep: boolean;
}

/**
 * The states that may follow each state. A payout returns to an earlier state after a reorganisation. It also returns
 * if its transaction can never be mined, so that another transaction must be made.
 */
const next: Readonly<Record<PayoutState, readonly PayoutState[]>> = {
  asked: ['signed', 'sent', 'mined', 'settled', 'cancelled'],
  signed: ['asked', 'sent', 'mined', 'settled'],
  sent: ['asked', 'signed', 'mined', 'settled'],
  mined: ['asked', 'signed', 'sent', 'settled'],
  settled: [],
  cancelled: [],
};

/** Whether a payout may move from one state to another. */
export const mayFollow = (from: PayoutState, to: PayoutState): boolean =>
  from === to || next[from].includes(to);

/** Computes the state from the facts. The state of an ended payout never changes. Pure. */
export function stateOf(state: PayoutState, { isSigned, isSent, isMined, isDeep }: PayoutFacts): PayoutState {
  if (state === 'settled' || state === 'cancelled') return state;
  if (isMined) return isDeep ? 'settled' : 'mined';
  if (!isSigned) return 'asked';
  return isSent ? 'sent' : 'signed';
}

/** Sum of the sats of shares. */
export const satsOf = (shares: readonly Pick<PayoutShare, 'sats'>[]): bigint =>
  shares.reduce((sum, { sats }) => sum + sats, 0n);

/** An output that a transaction pays. */
export interface Recipient {
  readonly script: Uint8Array;
  readonly sats: bigint;
}

/** Groups shares by their script. Each script gets one output, and the outputs are sorted by script. Pure. */
export function recipientsOf(shares: readonly Pick<PayoutShare, 'script' | 'sats'>[]): Recipient[] {
  const byScript = Map.groupBy(shares, ({ script }) => Buffer.from(script).toString('hex'));
  return [...byScript]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([script, of]) => ({ script: Buffer.from(script, 'hex'), sats: satsOf(of) }));
}

/** A stored transaction of a payout. */
export interface PayoutTransaction {
  readonly txid: Txid;
  /** Identifier of a family: the same txid for all transactions that replace each other. */
  readonly family: Txid;
  readonly plan: StoredPayoutPlan;
  readonly fee: bigint;
  readonly virtualBytes: number;
  readonly madeAt: Date;
  readonly sentAt: Date | null;
  readonly refusal: string | null;
  readonly isSuperseded: boolean;
  /** Height of the transaction's block, or null if no block is known to have the transaction. */
  readonly height: number | null;
}

/** A stored plan of a payout. It contains the data of the inputs that a replacement needs. */
export interface StoredPayoutPlan {
  readonly inputs: readonly {
    readonly outpoint: string;
    readonly value: number;
    /** Script in hex. */
    readonly script: string;
    readonly keyIndex: number;
    /** The branch of the input's key. Absent means branch 1, the service's own branch. */
    readonly branch?: WalletKey['branch'];
  }[];
  readonly outputs: readonly {
    readonly kind: 'payout' | 'change' | 'withdrawal' | 'burn';
    readonly value: number;
    readonly script: string;
    readonly holds?: StoredHoldings;
    /** The id of the withdrawal that the output pays. Absent if the output pays no withdrawal. */
    readonly withdrawal?: string;
  }[];
}
