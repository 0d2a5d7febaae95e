import type { WalletKey } from '#kernel/contracts/transaction-plan.ts';
import type { Txid } from '#kernel/primitives/hash.ts';
import type { PartnerAccount } from '#purse/ledger/ledger.ts';
import type { StoredHoldings } from '#purse/transactions/stored-holdings.ts';

/**
 * `referral`, `creator`: shares of partners, each from the account of that name. `revenue`: sats that the operator
 * takes out. `return`: an output that token payments set aside, as a whole. `withdrawal`: a batch of withdrawals of
 * accounts. `consolidation`: it joins small coins of accounts. The last two have no shares: src/withdrawals plans them.
 */
export type PayoutKind = PartnerAccount | 'revenue' | 'return' | BatchKind;
type BatchKind = 'withdrawal' | 'consolidation';

/** Whether a payout spends coins of accounts. Its change then belongs to them. */
export const isBatch = (kind: PayoutKind): kind is BatchKind =>
  kind === 'withdrawal' || kind === 'consolidation';

/**
 * `asked`: its shares are named. `signed`: its transaction is stored. `sent`: a node has taken it. `mined`: a block has
 * it, and so has the ledger. `settled`: that block is so deep that nothing changes it any more. `cancelled`: no
 * transaction was signed.
 */
export const payoutStates = ['asked', 'signed', 'sent', 'mined', 'settled', 'cancelled'] as const;
export type PayoutState = (typeof payoutStates)[number];

/**
 * An account that pays. Each code has its own `referral` account, each address its own `creator` account. `outside`: no
 * account pays, because the sats were never in the ledger.
 */
export type PayoutAccount = PartnerAccount | 'service' | 'operator' | 'outside';

/** Sats of one account that a payout pays to an address. */
export interface PayoutShare {
  readonly account: PayoutAccount;
  /** The code of a referral, or the address of a creator; null: the account belongs to the service as a whole. */
  readonly owner: string | null;
  readonly script: Uint8Array;
  readonly address: string;
  readonly sats: bigint;
}

export interface Payout {
  readonly id: string;
  readonly kind: PayoutKind;
  readonly state: PayoutState;
  /** Key of its change, in branch 1; null: nothing is planned yet. */
  readonly ownIndex: number | null;
  readonly stuck: string | null;
  /** The output that it sends as a whole; null: it spends only free coins. */
  readonly spends: { readonly txid: Txid; readonly vout: number } | null;
  /** Requested sats for 1,000 virtual bytes; null: the node's rate. */
  readonly feeRate: bigint | null;
  /** Tip since which an output that its transaction spends is missing; null: none is missing. */
  readonly missingSince: number | null;
}

/** Facts about a payout, by blocks and stored transactions. */
export interface PayoutFacts {
  /** A transaction of it is mined or may be mined. */
  readonly isSigned: boolean;
  readonly isSent: boolean;
  /** A block has one of its transactions, and the ledger has its payments. */
  readonly isMined: boolean;
  readonly isDeep: boolean;
}

/**
 * The states that may follow each state. A payout returns to an earlier state after a reorganisation, or if its
 * transaction can never be mined: then another transaction is made.
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

/** The state by these facts. A state that has ended stays. Pure. */
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

/** Shares by their address: one output each, in the order of their scripts. Pure. */
export function recipientsOf(shares: readonly Pick<PayoutShare, 'script' | 'sats'>[]): Recipient[] {
  const byScript = Map.groupBy(shares, ({ script }) => Buffer.from(script).toString('hex'));
  return [...byScript]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([script, of]) => ({ script: Buffer.from(script, 'hex'), sats: satsOf(of) }));
}

/** A transaction of a payout, as it is stored. */
export interface PayoutTransaction {
  readonly txid: Txid;
  /** The same for all transactions that replace each other. */
  readonly family: Txid;
  readonly plan: StoredPayoutPlan;
  readonly fee: bigint;
  readonly virtualBytes: number;
  readonly madeAt: Date;
  readonly sentAt: Date | null;
  readonly refusal: string | null;
  readonly isSuperseded: boolean;
  /** Its block; null: no block is known to have it. */
  readonly height: number | null;
}

/** Its plan, with the data of its inputs that a replacement needs. */
export interface StoredPayoutPlan {
  readonly inputs: readonly {
    readonly outpoint: string;
    readonly value: number;
    /** In hex. */
    readonly script: string;
    readonly keyIndex: number;
    /** The branch of its key; absent: 1, the service's own. */
    readonly branch?: WalletKey['branch'];
  }[];
  readonly outputs: readonly {
    readonly kind: 'payout' | 'change' | 'withdrawal' | 'burn';
    readonly value: number;
    readonly script: string;
    readonly holds?: StoredHoldings;
    /** The withdrawal that it pays; absent: an output of another kind. */
    readonly withdrawal?: string;
  }[];
}
