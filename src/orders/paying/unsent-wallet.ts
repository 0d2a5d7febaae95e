import type { TransactionPlan } from '#kernel/contracts/transaction-plan.ts';
import { asTxid, type Txid } from '#kernel/primitives/hash.ts';
import type { OrderLayout } from '#orders/inscribing/order-layout.ts';
import type { PlanningSigner } from '#orders/making/delivery-planning.ts';

/**
 * A wallet for plans that are never sent. Its scripts have the length of real scripts, and each plan has a txid.
 * Values, weights and positions of a plan depend on nothing else.
 */
export function unsentWallet(): PlanningSigner {
  const txids = new Map<TransactionPlan, Txid>();
  const txidOf = (plan: TransactionPlan): Txid => {
    const known = txids.get(plan);
    if (known !== undefined) return known;
    const bytes = new Uint8Array(32);
    new DataView(bytes.buffer).setUint32(0, txids.size);
    const txid = asTxid(bytes);
    txids.set(plan, txid);
    return txid;
  };
  return {
    scriptOf: () => p2tr,
    unsigned: (plan) => ({ bytes: noBytes, txid: txidOf(plan) }),
  };
}

const noBytes = new Uint8Array(0);
/** OP_1 and 32 bytes, because all scripts of orders are P2TR. */
const p2tr = Uint8Array.of(0x51, 0x20, ...new Uint8Array(32));

/**
 * Placeholder leaves with the lengths of a layout. All leaves are views of one buffer, because an order has up to 50 MB
 * of leaves.
 */
export function unsentLeaves({ reveals }: Pick<OrderLayout, 'reveals'>): Uint8Array[] {
  const longest = reveals.reduce((most, { leafBytes }) => Math.max(most, leafBytes), 0);
  const bytes = new ArrayBuffer(longest);
  return reveals.map(({ leafBytes }) => new Uint8Array(bytes, 0, leafBytes));
}
