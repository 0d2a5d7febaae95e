import type pg from 'pg';
import type { NetworkParameters } from '#kernel/primitives/network.ts';
import type { SatributeBook } from '#kernel/satributes/satribute-book.ts';
import { makeRefund } from '#orders/making/make-refund.ts';
import { type CoinForReturn, makeReturn, type ReturnPolicy } from '#orders/making/make-return.ts';
import { type LockTimeSearch, makeReveals } from '#orders/making/make-transactions.ts';
import type { OrderSigner } from '#orders/making/order-signer.ts';
import { confirmationsFor, type OrderPolicy } from '#orders/order/order-policy.ts';
import { type KnownSats, placeSats } from '#orders/sats/place-sats.ts';
import { refundFeeRate } from '#orders/sending/node-standing.ts';
import type { NodeWatch } from '#orders/sending/node-watch.ts';
import { heldReason, readHold } from '#purse/holding/payment-hold.store.ts';
import type { OrderSteps } from './process-order.ts';

export interface OrderStepsParts {
  readonly network: NetworkParameters;
  readonly signer: OrderSigner;
  readonly lockTimes: LockTimeSearch;
  readonly arrivedSats: KnownSats['arrived'];
  /** The satribute definitions that are in force now. */
  readonly satributes: () => SatributeBook;
  /** Knows the fee rate of refunds, so that no database transaction has to wait for the node. */
  readonly watch: Pick<NodeWatch, 'standing'>;
  readonly policy: OrderPolicy;
  readonly returns: ReturnPolicy;
  /** How many hours the miner has for a reveal (NONSTANDARD_MINER_HOURS). */
  readonly minerHours: number;
  /** Returns a free coin for a return. Returns null while a coin is searched; a later call returns the coin. */
  readonly coinFor: CoinForReturn;
  readonly market: OrderSteps['market'];
  readonly restock: OrderSteps['restock'];
  readonly tell: OrderSteps['tell'];
}

/** Creates the steps of orders, with the given wallet and node. */
export function orderSteps(parts: OrderStepsParts): OrderSteps {
  const { network, signer, arrivedSats, satributes, watch, policy, returns, coinFor, market, restock, tell } =
    parts;
  /**
   * Makes a transaction that is not urgent, at the fee rate of refunds. Returns a reason if the node does not answer,
   * or if payments are on hold.
   */
  const atFeeRate = async (
    tx: pg.ClientBase,
    make: (feeRate: bigint) => Promise<string | null>,
  ): Promise<string | null> => {
    if ((await readHold(tx)) !== null) return heldReason;
    const { standing } = watch;
    return standing === null
      ? 'The node does not answer, so the fee of the transaction is unknown.'
      : make(refundFeeRate(standing));
  };
  return {
    confirmationsFor: (amount) => confirmationsFor(policy, amount),
    finalConfirmations: policy.finalConfirmations,
    returnMaxSats: returns.maxSats,
    network,
    placeSats: (order, funds) => placeSats(order, funds, { arrived: arrivedSats, satributes: satributes() }),
    makeReveals: (tx, order, funds) => makeReveals(tx, parts, order, funds),
    makeReturn: (tx, order, returned) =>
      atFeeRate(tx, (feeRate) =>
        makeReturn(tx, { signer, feeRate, policy: returns, coinFor }, order, returned),
      ),
    makeRefund: (tx, order, outputs) =>
      atFeeRate(tx, (feeRate) => makeRefund(tx, signer, order, outputs, feeRate)),
    market,
    restock,
    tell,
  };
}
