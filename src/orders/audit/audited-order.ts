import type { OrderKind } from '#orders/order/order-kind.ts';
import type { OrderState } from '#orders/order/order-machine.ts';
import type { LedgerAccount } from '#purse/ledger/ledger.ts';
import type { StoredPlan } from '#purse/transactions/stored-plan.ts';
import type { DifferenceKind } from './differences.ts';

/** An output of the chain. Its txid and script are in hex; the txid is in display byte order. */
export interface Coin {
  /** Format: `<txid>:<vout>`. */
  readonly outpoint: string;
  /** In sats. */
  readonly value: bigint;
  readonly script: string;
}

/** A difference between the ledger of an order and the chain. */
export interface OrderDifference {
  readonly kind: DifferenceKind;
  /** The output, transaction or account that differs. Null if a sum differs. */
  readonly where: string | null;
  /** Number of sats. For `delivered`, it is the number of inscriptions. For `reserved`, it is the number of outputs. */
  readonly ledger: bigint;
  readonly chain: bigint;
}

/** Unspent outputs, by outpoint. They include only outputs that the node was asked about. */
export type Unspent = ReadonlyMap<string, Coin>;

/**
 * First location of an inscription in the index: an output of the transaction that created the inscription, or another
 * location. For a burn: the location to which the burn sent the inscription.
 */
export interface IndexedInscription {
  /** Index among the transaction's inscriptions; for a burn, among the inscriptions of its reveal. */
  readonly index: number;
  /** Output of the transaction. Null if the inscription is not in an output of the transaction. */
  readonly vout: number | null;
  readonly offset: number;
  /** The first 128 bytes of the output's script, in hex. */
  readonly script: string | null;
}

/** A coin of the wallet's table. */
export interface ListedCoin extends Coin {
  /** Whether the service may spend the coin for its own costs. */
  readonly isFree: boolean;
  readonly isInBlock: boolean;
}

/**
 * A stored transaction of an order, or a bump. A transaction is stored even if its payments are gone. The `fee` of a
 * bump is only the part that the order pays.
 */
export interface AuditedTransaction {
  readonly txid: string;
  readonly kind: string;
  /**
   * Index among transactions of the same kind. Reveals are numbered in the sequence of their files. A burn has the
   * index of its reveal.
   */
  readonly index: number;
  /** Number of files that the transaction inscribes or burns. */
  readonly files: number;
  readonly plan: StoredPlan;
  readonly fee: bigint;
  readonly isSuperseded: boolean;
  /** Whether a block has an output of this transaction at a watched script. */
  readonly isSeenInBlock: boolean;
  /** Inscriptions of the transaction that the index has. */
  readonly inscriptions: readonly IndexedInscription[];
}

/** Net change of one account of an order's ledger by one transaction. */
export interface LedgerLine {
  readonly txid: string;
  /** Whether the transaction is a payment to the order; otherwise it is our own transaction. */
  readonly isReceipt: boolean;
  readonly account: LedgerAccount;
  readonly sats: bigint;
}

/** Fields by which an operator identifies an order. */
export interface NamedOrder {
  readonly id: string;
  readonly kind: OrderKind;
  readonly state: OrderState;
  /** In sats. */
  readonly amount: bigint;
  readonly createdAt: Date;
}

/** An order, with the data of the database, the index and the ledger about it, read at one moment. */
export interface AuditedOrder extends NamedOrder {
  /** One script for all files, or one for each file. */
  readonly receivers: readonly string[];
  /** Payments in blocks, to the charge's address and to the deposits of parents. */
  readonly payments: readonly Coin[];
  readonly transactions: readonly AuditedTransaction[];
  /**
   * Outputs of `transactions` that are spent by mined bumps, or by mined transactions of other orders. Such spending is
   * correct, because the revenue of one order may pay for other orders.
   */
  readonly spentByOthers: readonly string[];
  /** Outputs of the inventory that the order still reserves although its state should have released them. */
  readonly keptStock: readonly string[];
  /** Coins of the order and of its bumps in the wallet's table. Null if the table is not complete yet. */
  readonly listed: readonly ListedCoin[] | null;
  /** Entries of the ledger, summed. Sums of 0 are left out. */
  readonly ledger: readonly LedgerLine[];
}
