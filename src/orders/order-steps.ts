import { satsOfBitcoins } from '#kernel/bitcoin/amount.ts';
import type { NodeRpc } from '#kernel/contracts/node.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { type LockTimeSearch, makeRefund, makeReveals, type OrderSigner } from './make-transactions.ts';
import { confirmationsFor, type OrderPolicy } from './order-policy.ts';
import type { OrderSteps } from './process-order.ts';

/** Refunds are not urgent: mined within these blocks, as the node estimates. */
const refundWithinBlocks = 6;
/** Sats for 1,000 virtual bytes, where the node has no estimate: what every node relays. */
const leastFeeRate = 1000n;

export interface OrderStepsParts {
  readonly signer: OrderSigner;
  readonly lockTimes: LockTimeSearch;
  readonly node: NodeRpc;
  readonly policy: OrderPolicy;
  readonly tell: OrderSteps['tell'];
}

/** The steps of orders with a wallet and a node. */
export function orderSteps({ signer, lockTimes, node, policy, tell }: OrderStepsParts): OrderSteps {
  return {
    confirmationsFor: (amount) => confirmationsFor(policy, amount),
    finalConfirmations: policy.finalConfirmations,
    makeReveals: (tx, order, payments) => makeReveals(tx, { signer, lockTimes }, order, payments),
    makeRefund: async (tx, order, outputs) => {
      const feeRate = await refundFeeRate(node);
      return feeRate === null
        ? 'The node does not say what a transaction costs.'
        : makeRefund(tx, signer, order, outputs, feeRate);
    },
    tell,
  };
}

/** Sats for 1,000 virtual bytes; null: the node does not answer. */
async function refundFeeRate(node: NodeRpc): Promise<bigint | null> {
  try {
    const { feerate } = await node.call<{ readonly feerate?: number }>('estimatesmartfee', [
      refundWithinBlocks,
    ]);
    const rate = feerate === undefined ? leastFeeRate : BigInt(satsOfBitcoins(feerate));
    return rate > leastFeeRate ? rate : leastFeeRate;
  } catch (error) {
    if (error instanceof AppError) return null;
    throw error;
  }
}
