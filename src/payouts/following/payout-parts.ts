import type pg from 'pg';
import type { NodeRpc } from '#kernel/contracts/node.ts';
import type { Logger } from '#kernel/reports/logger.ts';
import type { ProveFree } from '#orders/funds/free-coins.ts';
import type { OrderSigner } from '#orders/making/order-signer.ts';
import type { NodeStanding } from '#orders/sending/node-standing.ts';
import type { Payout, PayoutState, PayoutTransaction } from '#payouts/payout/payout.ts';

/** Everything that is needed to make payouts. */
export interface PayoutParts {
  readonly client: pg.ClientBase;
  readonly node: NodeRpc;
  readonly signer: OrderSigner;
  readonly proveFree: ProveFree;
  /** PAYOUT_CONFIRMATIONS */
  readonly confirmations: number;
  /** Null: there are no accounts of shops. */
  readonly withdrawals: WithdrawalBatches | null;
  readonly log: Logger;
}

/**
 * Batches of coins of accounts: another room knows their payments. The payouts' engine signs nothing of them: it asks
 * for their transactions, sends stored ones, and follows them to blocks.
 */
export interface WithdrawalBatches {
  /** Puts waiting withdrawals into batches. A second call has no effect. */
  form(client: pg.ClientBase): Promise<void>;
  /** Asks for a batch that joins small coins of accounts, if one is due. A second call has no effect. */
  consolidate(parts: PayoutParts, standing: NodeStanding): Promise<void>;
  /**
   * Plans, signs and stores the transaction of a batch, or one that replaces an unconfirmed one. Returns the reason why
   * it cannot be made; null: it is stored, or the batch has ended. Throws `OutputTaken`.
   */
  make(parts: PayoutParts, making: MadeBatch): Promise<string | null>;
  /** Posts the entries of transactions that blocks have, and takes back the entries of the others. */
  post(tx: pg.ClientBase, id: string, transactions: readonly PayoutTransaction[]): Promise<void>;
  /** Sets its withdrawals to the state of the batch, and notifies their accounts. */
  settle(
    tx: pg.ClientBase,
    payout: Pick<Payout, 'id' | 'stuck'> & { readonly state: PayoutState },
    transactions: readonly PayoutTransaction[],
  ): Promise<void>;
}

/** A batch whose transaction is to be made. */
export interface MadeBatch {
  readonly payout: Payout;
  /** The newest first, superseded ones too. */
  readonly transactions: readonly PayoutTransaction[];
  readonly standing: NodeStanding;
  /** The transaction that it replaces; null: no transaction of it may be mined. */
  readonly replaced: PayoutTransaction | null;
}
