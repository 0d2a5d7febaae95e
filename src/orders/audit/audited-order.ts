import type { OrderKind } from '#orders/order/order-kind.ts';
import type { OrderState } from '#orders/order/order-machine.ts';
import type { LedgerAccount } from '#purse/ledger/ledger.ts';
import type { StoredPlan } from '#purse/transactions/stored-plan.ts';
import type { DifferenceKind } from './differences.ts';

/** An output of the chain. Its hash and script are hex, as people see them. */
export interface Coin {
  /** `<txid>:<vout>` */
  readonly outpoint: string;
  /** Sats. */
  readonly value: bigint;
  readonly script: string;
}

/** A difference between the ledger of an order and the chain. */
export interface OrderDifference {
  readonly kind: DifferenceKind;
  /** The output or transaction that differs; null: a sum differs. */
  readonly where: string | null;
  /** Sats; for `delivered`, inscriptions; for `reserved`, outputs. */
  readonly ledger: bigint;
  readonly chain: bigint;
}

/** Unspent outputs among those that the node was asked about, by outpoint. */
export type Unspent = ReadonlyMap<string, Coin>;

/**
 * Place that the index first has for an inscription: an output of the transaction that made it, or elsewhere. For a
 * burn, the place that the burn sent it to.
 */
export interface IndexedInscription {
  /** Number among the transaction's inscriptions; for a burn, among those of its reveal. */
  readonly index: number;
  /** Null: not in an output of the transaction. */
  readonly vout: number | null;
  readonly offset: number;
  /** The script's first 128 bytes. */
  readonly script: string | null;
}

/** A coin of the wallet's table. */
export interface ListedCoin extends Coin {
  /** The service may spend it for its own costs. */
  readonly isFree: boolean;
  readonly isInBlock: boolean;
}

/**
 * A stored transaction of an order, also one whose payments are gone; or a bump, whose fee here is the part that the
 * order bears.
 */
export interface AuditedTransaction {
  readonly txid: string;
  readonly kind: string;
  /** Number among transactions of its kind: reveals in the order of their files. A burn has that of its reveal. */
  readonly index: number;
  /** Files that it inscribes or burns. */
  readonly files: number;
  readonly plan: StoredPlan;
  readonly fee: bigint;
  readonly isSuperseded: boolean;
  /** A block has an output of it at a watched script. */
  readonly isSeenInBlock: boolean;
  /** Inscriptions that the index has. */
  readonly inscriptions: readonly IndexedInscription[];
}

/** Net sats of one account of an order's ledger by one transaction. */
export interface LedgerLine {
  readonly txid: string;
  /** The transaction is a payment to the order; else it is ours. */
  readonly isReceipt: boolean;
  readonly account: LedgerAccount;
  readonly sats: bigint;
}

/** Fields by which an operator recognizes an order. */
export interface NamedOrder {
  readonly id: string;
  readonly kind: OrderKind;
  readonly state: OrderState;
  /** Sats. */
  readonly amount: bigint;
  readonly createdAt: Date;
}

/** An order with everything that database, index and ledger say about it, at one moment. */
export interface AuditedOrder extends NamedOrder {
  /** One script for all files, or one for each file. */
  readonly receivers: readonly string[];
  /** Payments in blocks: to the charge's address, and to the deposits of parents. */
  readonly payments: readonly Coin[];
  readonly transactions: readonly AuditedTransaction[];
  /**
   * Outputs of these transactions that mined bumps or transactions of other orders spend: revenue pays for all of them.
   */
  readonly spentByOthers: readonly string[];
  /** Outputs of the inventory that the order still keeps although its state should have released them: one at most. */
  readonly keptStock: readonly string[];
  /** The order's coins in the wallet's table, and those of its bumps; null: the table is not complete yet. */
  readonly listed: readonly ListedCoin[] | null;
  /** Lines whose sum is 0 are left out. */
  readonly ledger: readonly LedgerLine[];
}
