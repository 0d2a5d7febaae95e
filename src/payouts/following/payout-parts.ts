import type pg from 'pg';
import type { NodeRpc } from '#kernel/contracts/node.ts';
import type { Logger } from '#kernel/reports/logger.ts';
import type { ProveFree } from '#orders/funds/free-coins.ts';
import type { OrderSigner } from '#orders/making/order-signer.ts';
import type { NodeStanding } from '#orders/sending/node-standing.ts';
import type { Payout, PayoutState, PayoutTransaction } from '#payouts/payout/payout.ts';

/** Values and services that are needed to make payouts. */
export interface PayoutParts {
  readonly client: pg.ClientBase;
  readonly node: NodeRpc;
  readonly signer: OrderSigner;
  readonly proveFree: ProveFree;
  /** The setting PAYOUT_CONFIRMATIONS. */
  readonly confirmations: number;
  /** Batches of withdrawals, or null if the service has no accounts of shops. */
  readonly withdrawals: WithdrawalBatches | null;
  readonly log: Logger;
}

/**
 * Interface to batches that spend coins of accounts. The payouts module does not know payments of accounts, so it
 * requests the transactions of batches here. It then sends the stored transactions, and follows them until they are in
 * blocks.
 */
export interface WithdrawalBatches {
  /** Puts waiting withdrawals into batches. A second call has no effect. */
  form(client: pg.ClientBase): Promise<void>;
  /** Requests a batch that joins small coins of accounts, if one is due. A second call has no effect. */
  consolidate(parts: PayoutParts, standing: NodeStanding): Promise<void>;
  /**
   * Plans, signs and stores the transaction of a batch, or a replacement of an unconfirmed transaction. Returns the
   * reason if this is not possible. Returns null if a transaction was stored, or if the batch has ended. Throws
   * `OutputTaken`.
   */
  make(parts: PayoutParts, making: MadeBatch): Promise<string | null>;
  /**
   * Posts the ledger entries of transactions that are in blocks, and reverses the entries of all other transactions.
   */
  post(tx: pg.ClientBase, id: string, transactions: readonly PayoutTransaction[]): Promise<void>;
  /** Updates the batch's withdrawals to the batch's state, and notifies their accounts. */
  settle(
    tx: pg.ClientBase,
    payout: Pick<Payout, 'id' | 'stuck'> & { readonly state: PayoutState },
    transactions: readonly PayoutTransaction[],
  ): Promise<void>;
}

/** A batch that needs a transaction. */
export interface MadeBatch {
  readonly payout: Payout;
  /** Transactions of the batch, the newest first, including superseded ones. */
  readonly transactions: readonly PayoutTransaction[];
  readonly standing: NodeStanding;
  /** The transaction to replace, or null if no transaction of the batch can still be mined. */
  readonly replaced: PayoutTransaction | null;
}
