import type { Order } from '#orders/order/order.store.ts';

/**
 * How a customer's wallet pays an order by PSBT: the path of the request that makes a PSBT, and the known fields of the
 * request's body. The client adds the wallet's addresses and keys (docs/psbts.md).
 */
export type PsbtWay =
  | {
      readonly path: '/create-special-sats-psbt';
      readonly body: {
        readonly chargeAmount: number;
        readonly fundingAddress: string;
        readonly feeRate: number;
      };
    }
  | {
      readonly path: '/create-parent-child-psbt';
      readonly body: { readonly orderId: string; readonly feeRate: number };
    };

/** Sats and parents that an order still waits for. */
export interface Lacking {
  /** Sats that one more payment must contain. */
  readonly sats: bigint;
  readonly parents: number;
}

/** Returns how to pay the missing sats and parents by PSBT; null if nothing is missing. Pure. */
export function psbtWay(
  { id, address, terms }: Pick<Order, 'id' | 'address' | 'terms'>,
  { sats, parents }: Lacking,
): PsbtWay | null {
  if (sats === 0n && parents === 0) return null;
  // the fee rate of the reveal is also suitable for the payment
  const feeRate = Number(terms.feeRate) / 1000;
  if (terms.parents.length > 0) return { path: '/create-parent-child-psbt', body: { orderId: id, feeRate } };
  return {
    path: '/create-special-sats-psbt',
    body: { chargeAmount: Number(sats), fundingAddress: address, feeRate },
  };
}
