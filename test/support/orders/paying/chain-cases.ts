import { displayHash } from '#kernel/primitives/hash.ts';
import type { Payer } from '#test/support/orders/payer.ts';
import type { PaymentCase } from './payment-cases.ts';

/**
 * Depths of reorganisations, in blocks: one block, and more blocks than those whose transactions return to a node's
 * mempool.
 */
const depths = [1, 12];

/**
 * Cases with exact payments where a reorganisation removes the blocks of the order, or the node forgets the order's
 * transactions.
 */
export const chainCases: readonly PaymentCase[] = [
  ...depths.flatMap((depth): PaymentCase[] => [
    {
      name: `exactly, and ${blocksWords(depth)} taken back, with its payment`,
      run: async (payer) => {
        const payment = await payer.revealed();
        await payer.world.chain.mineEmpty(depth - 1);
        await payer.reorganise(depth);
        // after a reorganisation of 12 blocks, the node has forgotten the transactions of the lowest block
        await payer.sendAgain(payment);
      },
      ends: 'delivered',
    },
    {
      name: `exactly, and ${blocksWords(depth)} taken back, with the commit alone`,
      of: ['managed orders', 'special sats of several files'],
      run: async (payer) => {
        await payer.revealed();
        await mineCommit(payer);
        await payer.world.chain.mineEmpty(depth - 1);
        await payer.reorganise(depth);
      },
      ends: 'delivered',
    },
    {
      name: `exactly, and ${blocksWords(depth)} taken back, with what delivered it`,
      run: async (payer) => {
        await payer.delivered();
        await payer.world.chain.mineEmpty(depth - 1);
        await payer.reorganise(depth);
        await payer.until('queued');
      },
      ends: 'delivered',
    },
  ]),
  {
    name: 'exactly, and the mempool forgets what was to deliver it',
    run: async (payer) => {
      await payer.revealed();
      await payer.world.bitcoind.restart();
    },
    ends: 'delivered',
  },
];

function blocksWords(depth: number): string {
  return depth === 1 ? 'a block is' : `${depth} blocks are`;
}

/** Mines a block that contains only the commit of an order. */
async function mineCommit({ world, order }: Payer): Promise<void> {
  const found = await world.customerOrders.read(order.id);
  const { txid } = found!.transactions.find(({ kind }) => kind === 'commit')!;
  await world.chain.rpc.call('generateblock', ['raw(51)', [displayHash(txid)]]);
}
