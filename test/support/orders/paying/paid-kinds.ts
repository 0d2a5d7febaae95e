import type { OrderTerms } from '#orders/inscribing/order-terms.ts';
import { scriptOf } from '#test/builders/regtest/regtest-transaction.ts';
import { wantedOrder } from '#test/builders/wanted-order.ts';
import { OrderWorld } from '#test/support/orders/order-world.ts';
import type { PaidOrder } from '#test/support/orders/payer.ts';

export type PaidKindName = 'direct orders' | 'managed orders' | 'special sats of several files';
export type WantedTerms = Partial<Pick<OrderTerms, 'feeRate' | 'uncurse'>>;

/** An order of a case: its contents, and the owners of its deliveries and refunds. */
export interface WantedPaid {
  readonly contents: readonly string[];
  readonly receiver: number;
  readonly refund: number;
  readonly terms: WantedTerms;
}

/** The place in which orders of one kind are made, paid and delivered. */
export interface PaidRoom {
  readonly world: OrderWorld;
  /** The script of the inventory that its orders take sats of, in hex; absent: they take no such sats. */
  readonly inventory?: string;
  order(wanted: WantedPaid): Promise<PaidOrder>;
  close(): Promise<void>;
}

export interface PaidKind {
  readonly name: PaidKindName;
  /** Files of an order. */
  readonly files: number;
  readonly open: () => Promise<PaidRoom>;
}

// a node that has restarted has an empty mempool
const node = { extra: ['-persistmempool=0'] };

/** Orders of one file, paid to their reveal. */
export const directOrders: PaidKind = {
  name: 'direct orders',
  files: 1,
  open: () => openWorld('direct'),
};

/** Orders of two files, paid to the wallet, which makes a commit. */
export const managedOrders: PaidKind = {
  name: 'managed orders',
  files: 2,
  open: () => openWorld('bulk'),
};

async function openWorld(type: OrderTerms['type']): Promise<PaidRoom> {
  const world = await OrderWorld.start(node);
  return {
    world,
    order: async ({ contents, receiver, refund, terms }) => {
      const wanted = wantedOrder(contents, { ...terms, type, receivers: [scriptOf(receiver)] });
      return (await world.customerOrders.create({ ...wanted, refundScript: scriptOf(refund) })).order;
    },
    close: () => world.close(),
  };
}
