import type { OrderKind } from '#orders/order/order-kind.ts';
import type { OrderState } from '#orders/order/order-machine.ts';
import type { LedgerAccount } from '#purse/ledger/ledger.ts';
import type { StoredPlan } from '#purse/transactions/stored-plan.ts';
import type { DifferenceKind } from './differences.ts';

/** An output of the chain. Hashes and scripts are in hex, as they are shown. */
export interface Coin {
  /** `<txid>:<vout>` */
  readonly outpoint: string;
  /** Sats. */
  readonly value: bigint;
  readonly script: string;
}

/** Something that is not as the ledger of an order says. */
export interface OrderDifference {
  readonly kind: DifferenceKind;
  /** The output or transaction that it is about; null: sums. */
  readonly where: string | null;
  /** Sats; for deliveries inscriptions, for what is reserved outputs. */
  readonly ledger: bigint;
  readonly chain: bigint;
}

/** Unspent outputs that the node has, by outpoint, of those that it was asked about. */
export type Unspent = ReadonlyMap<string, Coin>;

/** Where the index first has an inscription: in an output of the transaction that made it, or elsewhere; of a burn, where that sent it. */
export interface IndexedInscription {
  /** In the transaction's inscriptions; of a burn, in those of its reveal. */
  readonly index: number;
  /** Null: in none of its outputs. */
  readonly vout: number | null;
  readonly offset: number;
  /** Its first 128 bytes. */
  readonly script: string | null;
}

/** A coin of the wallet's table. */
export interface ListedCoin extends Coin {
  /** The service may spend it for its own costs. */
  readonly isFree: boolean;
  readonly isInBlock: boolean;
}

/** A stored transaction of an order, also one whose payments are gone; or a bump, whose fee is what the order bears. */
export interface AuditedTransaction {
  readonly txid: string;
  readonly kind: string;
  /** Of its kind: reveals in the order of their files. A burn has that of its reveal. */
  readonly index: number;
  /** How many files it inscribes or burns. */
  readonly files: number;
  readonly plan: StoredPlan;
  readonly fee: bigint;
  readonly isSuperseded: boolean;
  /** A block has an output of it whose script is watched. */
  readonly isSeenInBlock: boolean;
  /** In the index. */
  readonly inscriptions: readonly IndexedInscription[];
}

/** What an account of an order's ledger got from a transaction, less what left it. */
export interface LedgerLine {
  readonly txid: string;
  /** It came in with a payment of this transaction; else it is a transaction of ours. */
  readonly isReceipt: boolean;
  readonly account: LedgerAccount;
  readonly sats: bigint;
}

/** What names an order to its operator. */
export interface NamedOrder {
  readonly id: string;
  readonly kind: OrderKind;
  readonly state: OrderState;
  /** Sats. */
  readonly amount: bigint;
  readonly createdAt: Date;
}

/** An order with all that database, index and ledger say of it, of one moment. */
export interface AuditedOrder extends NamedOrder {
  /** One script for all files, or one a file. */
  readonly receivers: readonly string[];
  /** That blocks have: to the charge's address, and to the deposits of parents. */
  readonly payments: readonly Coin[];
  readonly transactions: readonly AuditedTransaction[];
  /** Outputs of these that mined bumps spend, and transactions of other orders: revenue pays for all of them. */
  readonly spentByOthers: readonly string[];
  /** Outputs of the inventory that it keeps although its state should have released them: none, or one. */
  readonly keptStock: readonly string[];
  /** Its coins in the wallet's table, with those of its bumps; null: the table is not complete yet. */
  readonly listed: readonly ListedCoin[] | null;
  /** Without lines that come to nothing. */
  readonly ledger: readonly LedgerLine[];
}
