import type pg from 'pg';
import type { NodeRpc } from '#kernel/contracts/node.ts';
import type { Logger } from '#kernel/reports/logger.ts';
import type { ProveFree } from '#orders/funds/free-coins.ts';
import type { OrderSigner } from '#orders/making/order-signer.ts';
import type { NodeStanding } from '#orders/sending/node-standing.ts';
import type { Payout, PayoutState, PayoutTransaction } from '#payouts/payout/payout.ts';

/** The parts with which payouts are made. */
export interface PayoutParts {
  readonly client: pg.ClientBase;
  readonly node: NodeRpc;
  readonly signer: OrderSigner;
  readonly proveFree: ProveFree;
  /** PAYOUT_CONFIRMATIONS */
  readonly confirmations: number;
  /** Null: no accounts of shops are there. */
  readonly withdrawals: WithdrawalBatches | null;
  readonly log: Logger;
}

/**
 * Batches of coins of accounts: payouts of which another room knows what they pay. The engine signs nothing of them
 * by itself: it has them made, sends what is stored, and brings them to where blocks are.
 */
export interface WithdrawalBatches {
  /** Puts withdrawals that wait into batches. Twice does nothing more. */
  form(client: pg.ClientBase): Promise<void>;
  /** Asks for a batch that joins small coins of accounts, where one is due. Twice does nothing more. */
  consolidate(parts: PayoutParts, standing: NodeStanding): Promise<void>;
  /**
   * Plans, signs and stores the transaction of a batch, or one that takes the place of an unconfirmed one. Returns
   * why it cannot be made; null: it is stored, or the batch is over. Throws `OutputTaken`.
   */
  make(parts: PayoutParts, making: MadeBatch): Promise<string | null>;
  /** Posts the entries of those transactions that blocks have, and takes back those of others. */
  post(tx: pg.ClientBase, id: string, transactions: readonly PayoutTransaction[]): Promise<void>;
  /** Brings its withdrawals to the state of the batch, and tells their accounts. */
  settle(
    tx: pg.ClientBase,
    payout: Pick<Payout, 'id' | 'stuck'> & { readonly state: PayoutState },
    transactions: readonly PayoutTransaction[],
  ): Promise<void>;
}

/** A batch that is to be made. */
export interface MadeBatch {
  readonly payout: Payout;
  /** The newest first, superseded ones too. */
  readonly transactions: readonly PayoutTransaction[];
  readonly standing: NodeStanding;
  /** The one that it takes the place of; null: nothing of it may be mined. */
  readonly replaced: PayoutTransaction | null;
}
