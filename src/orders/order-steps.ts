import { type LockTimeSearch, makeRefund, makeReveals, type OrderSigner } from './make-transactions.ts';
import { confirmationsFor, type OrderPolicy } from './order-policy.ts';
import type { OrderSteps } from './process-order.ts';
import { refundFeeRate } from './sending/node-standing.ts';
import type { NodeWatch } from './sending/node-watch.ts';

export interface OrderStepsParts {
  readonly signer: OrderSigner;
  readonly lockTimes: LockTimeSearch;
  /** Says what refunds cost, without asking the node within a transaction of the database. */
  readonly watch: Pick<NodeWatch, 'standing'>;
  readonly policy: OrderPolicy;
  readonly tell: OrderSteps['tell'];
}

/** The steps of orders with a wallet and a node. */
export function orderSteps({ signer, lockTimes, watch, policy, tell }: OrderStepsParts): OrderSteps {
  return {
    confirmationsFor: (amount) => confirmationsFor(policy, amount),
    finalConfirmations: policy.finalConfirmations,
    makeReveals: (tx, order, payments) => makeReveals(tx, { signer, lockTimes }, order, payments),
    makeRefund: async (tx, order, outputs) => {
      const { standing } = watch;
      return standing === null
        ? 'The node does not say what a transaction costs.'
        : makeRefund(tx, signer, order, outputs, refundFeeRate(standing));
    },
    tell,
  };
}
