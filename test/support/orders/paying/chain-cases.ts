import { displayHash } from '#kernel/primitives/hash.ts';
import type { Payer } from '#test/support/orders/payer.ts';
import type { PaymentCase } from './payment-cases.ts';

/** Depths of reorganisations: one block, and more than a node takes back into its mempool. */
const depths = [1, 12];

/** Exact payments of orders whose blocks are removed, or whose transactions the node forgets. */
export const chainCases: readonly PaymentCase[] = [
  ...depths.flatMap((depth): PaymentCase[] => [
    {
      name: `exactly, and ${blocksWords(depth)} taken back, with its payment`,
      run: async (payer) => {
        const payment = await payer.revealed();
        await payer.world.chain.mineEmpty(depth - 1);
        await payer.reorganise(depth);
        // the node has forgotten the transactions of the lowest of 12
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

/** A block with the commit of an order, and nothing else of the mempool. */
async function mineCommit({ world, order }: Payer): Promise<void> {
  const found = await world.customerOrders.read(order.id);
  const { txid } = found!.transactions.find(({ kind }) => kind === 'commit')!;
  await world.chain.rpc.call('generateblock', ['raw(51)', [displayHash(txid)]]);
}
