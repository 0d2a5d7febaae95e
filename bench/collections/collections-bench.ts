import { parseArgs } from 'node:util';
import { RegtestChain } from '#test/builders/regtest/regtest-chain.ts';
import { withBenchNode } from '../bench-node.ts';
import { clients } from '../clients.ts';
import { nameOption, numberOption } from '../options.ts';
import type { Figure, Report, Table } from '../report.ts';
import { allocationFigures } from './allocations.ts';
import { deliveredFigures, largeCollectionFigures } from './large-collection.ts';
import { MintShop } from './mint-shop.ts';
import { soldItemFigures } from './sold-items.ts';

/** Number of creations beyond the measured ones: for the warm-up, and for rounds that are rounded up. */
const spare = 2 * clients;
const parts = ['orders', 'allocations', 'upload'] as const;

/** `npm run bench -- collections`: orders of items, allocations, and collections of many items. */
export async function collectionsBench(args: string[]): Promise<Report> {
  const { values } = parseArgs({
    args,
    options: {
      only: { type: 'string' },
      items: { type: 'string', default: '20000' },
      orders: { type: 'string', default: '1500' },
      listed: { type: 'string', default: '100000' },
      files: { type: 'string', default: '10000' },
      delivered: { type: 'string', default: '100000' },
    },
  });
  const only = nameOption('only', values.only, parts);
  const orders = numberOption('orders', values.orders, clients);
  // unpaid orders may hold half of the remaining items, so there must be twice as many
  const items = numberOption('items', values.items, 2 * (orders + spare));
  const listed = numberOption('listed', values.listed, 1);
  const files = numberOption('files', values.files, 1);
  const delivered = numberOption('delivered', values.delivered, 1);
  const figures: Figure[] = [];
  const tables: Table[] = [];
  await withBenchNode('collections', async (node, dir) => {
    await RegtestChain.start(node.rpc, 1);
    const shop = await MintShop.open(node, dir);
    try {
      if (only === null || only === 'orders') {
        const sold = await soldItemFigures(shop, dir, { items, orders });
        figures.push(...sold.figures);
        tables.push(sold.table);
      }
      if (only === null || only === 'allocations') figures.push(...(await allocationFigures(shop, listed)));
      if (only === null || only === 'upload') {
        figures.push(...(await largeCollectionFigures(shop, dir, files)));
        figures.push(...(await deliveredFigures(shop, delivered)));
      }
    } finally {
      await shop.close();
    }
  });
  return {
    bench: 'collections',
    notes: [
      'a service process, a real node, embedded Postgres; all requests over HTTP with a key of a shop',
      `…Of${clients}: ${orders} orders of one item by ${clients} clients at once, one in five by number, of a collection of ${items};`,
      'managed orders of one small file in turns with them; CpuMs: of the service with its Postgres. No item is in two orders, and counters equal their rows',
      `allocation: from a collection that lists ${listed} addresses, oneListed: from one that lists one; half of the addresses asked for are not listed`,
      `Idle: one question after the other; Of${clients}: ${clients} clients that ask eight times a second each`,
      `upload, approve, show, read: a collection of ${files} files of 20 kB; delivered: the list of ${delivered} delivered items`,
    ],
    figures,
    details: [],
    tables,
  };
}
