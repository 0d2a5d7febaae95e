import type { OrderTerms } from '#orders/inscribing/order-terms.ts';
import { addressOf, scriptOf } from '#test/builders/regtest/regtest-transaction.ts';
import { wantedOrder } from '#test/builders/wanted-order.ts';
import { fillStock } from '#test/support/orders/fill-stock.ts';
import { OrderWorld } from '#test/support/orders/order-world.ts';
import type { PaidOrder } from '#test/support/orders/payer.ts';
import { StockRoom } from '#test/support/orders/stock-room.ts';

export type PaidKindName = 'direct orders' | 'managed orders' | 'special sats of several files';
export type WantedTerms = Partial<Pick<OrderTerms, 'feeRate' | 'uncurse'>>;

/** An order of a case: its contents, and the owners of the addresses for deliveries and refunds. */
export interface WantedPaid {
  readonly contents: readonly string[];
  readonly receiver: number;
  readonly refund: number;
  readonly terms: WantedTerms;
}

/** The world in which orders of one kind are created, paid and delivered. */
export interface PaidRoom {
  readonly world: OrderWorld;
  /** Script of the inventory whose sats the orders use, in hex. Default: none. */
  readonly inventory?: string;
  /** The first block with outputs of this inventory. */
  readonly stockedFrom?: number;
  order(wanted: WantedPaid): Promise<PaidOrder>;
  close(): Promise<void>;
}

export interface PaidKind {
  readonly name: PaidKindName;
  /** Number of files in an order. */
  readonly files: number;
  readonly open: () => Promise<PaidRoom>;
}

// a node that restarts has an empty mempool
const node = { extra: ['-persistmempool=0'] };

/** Orders of one file. The payment goes to the script that the reveal spends. */
export const directOrders: PaidKind = {
  name: 'direct orders',
  files: 1,
  open: () => openWorld('direct'),
};

/** Orders of two files. The payment goes to the wallet, which makes a commit. */
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

/** Number of blocks, more than any reorganisation of a case removes. */
const buriedBlocks = 20;
/**
 * Number of outputs in the inventory. They have more sats than the orders of all cases use, because the rests of
 * outputs are listed again.
 */
const stockedOutputs = 150;

/** Orders of two files, each on its own inventory sat. */
export const specialSats: PaidKind = {
  name: 'special sats of several files',
  files: 2,
  open: openStock,
};

async function openStock(): Promise<PaidRoom> {
  const room = await StockRoom.start(230, node);
  const { world } = room;
  const { script } = world.wallet.inventoryAddress(0);
  const stockedFrom = (await world.chain.height()) + 1;
  await fillStock(world.database.pool, world.chain, script, stockedOutputs);
  await world.chain.mineEmpty(buriedBlocks);
  return {
    world,
    inventory: Buffer.from(script).toString('hex'),
    stockedFrom,
    order: async ({ contents, receiver, refund, terms: { feeRate = 2000n, uncurse = false } }) => {
      const { status, body } = await room.post<{ id: string }>('/inscribe', {
        files: contents.map((content, place) => ({
          name: `${place}.txt`,
          size: content.length,
          dataURL: `data:text/plain;base64,${Buffer.from(content).toString('base64')}`,
        })),
        receiveAddress: addressOf(receiver),
        refundAddress: addressOf(refund),
        fee: Number(feeRate) / 1000,
        uncurseIt: uncurse,
        rareSats: 'vintage',
      });
      if (status !== 200) throw new Error(JSON.stringify(body));
      return (await world.customerOrders.read(body.id))!.order;
    },
    close: () => room.close(),
  };
}
