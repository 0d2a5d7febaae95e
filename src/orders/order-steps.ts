import type { NodeRpc } from '#kernel/contracts/node.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { type LockTimeSearch, makeRefund, makeReveals, type OrderSigner } from './make-transactions.ts';
import type { OrderSteps } from './process-order.ts';

export interface OrderPolicy {
  /** Confirmations of payments, by the amounts from which they are asked, ascending. */
  readonly confirmations: readonly { readonly from: bigint; readonly confirmations: number }[];
  /** Of reveals, with which an order is completed. */
  readonly finalConfirmations: number;
}

/** Refunds are not urgent: mined within these blocks, as the node estimates. */
const refundWithinBlocks = 6;
/** Sats for 1,000 virtual bytes, where the node has no estimate: what every node relays. */
const leastFeeRate = 1000n;
const satsPerBitcoin = 1e8;

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

/** The confirmations of the highest step at or below an amount; 1 where there is none: unconfirmed money is spent never. */
export function confirmationsFor({ confirmations }: OrderPolicy, amount: bigint): number {
  const step = confirmations.findLast(({ from }) => from <= amount);
  return Math.max(1, step?.confirmations ?? 1);
}

/** Reads `sats:confirmations,…`; null where the amounts do not ascend. */
export function parseConfirmations(text: string): OrderPolicy['confirmations'] | null {
  const steps = text.split(',').map((part) => {
    const [from = '', confirmations = ''] = part.split(':');
    return { from: BigInt(from), confirmations: Number(confirmations) };
  });
  const isAscending = steps.every(({ from }, place) => place === 0 || from > (steps[place - 1]?.from ?? 0n));
  return isAscending ? steps : null;
}

/** Sats for 1,000 virtual bytes; null: the node does not answer. */
async function refundFeeRate(node: NodeRpc): Promise<bigint | null> {
  try {
    const { feerate } = await node.call<{ readonly feerate?: number }>('estimatesmartfee', [
      refundWithinBlocks,
    ]);
    const rate = feerate === undefined ? leastFeeRate : BigInt(Math.ceil(feerate * satsPerBitcoin));
    return rate > leastFeeRate ? rate : leastFeeRate;
  } catch (error) {
    if (error instanceof AppError) return null;
    throw error;
  }
}
