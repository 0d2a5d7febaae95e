import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { differingRows } from '#collections/selling/sold-rows.queries.ts';
import { inLanes } from '#kernel/concurrency/in-lanes.ts';
import { familyCpuMs } from '#kernel/stages/process-times.ts';
import { byClients, clients } from '../clients.ts';
import type { Figure, Table } from '../report.ts';
import { percentile } from '../statistics.ts';
import { buyerAddress } from './buyers.ts';
import { type MintShop, smallOrder } from './mint-shop.ts';

const collection = 'sold-items';
/** Number of rounds in which the paths take turns, so that other load on the machine affects both equally. */
const rounds = 3;
/** One order in this many names its item; the others draw one. */
const requestedEach = 5;
const buyers = 1000;

interface CollectionAnswer {
  readonly id: string;
  readonly charge: { readonly address: string };
  readonly collection: { readonly items: readonly number[] };
}

/**
 * Measures orders of one item each from 16 clients, taking turns with managed orders of one small file. Returns orders
 * per second, and the time from the request to the address. Throws if an item is in two orders, or if a counter differs
 * from its rows.
 *
 * @param orders total number of orders for each path
 */
export async function soldItemFigures(
  shop: MintShop,
  dir: string,
  { items, orders }: { readonly items: number; readonly orders: number },
): Promise<{ readonly figures: readonly Figure[]; readonly table: Table }> {
  await openSale(shop, join(dir, collection), items);
  const sale = new Sale(shop, items);
  const paths = {
    managed: (piece: number) => shop.made('/order', smallOrder(buyerAddress(piece % buyers))),
    collection: (piece: number) => sale.order(piece),
  };
  const names = ['managed', 'collection'] as const;
  const times = { managed: [] as number[], collection: [] as number[] };
  const seconds = { managed: 0, collection: 0 };
  const cpuMs = { managed: 0, collection: 0 };
  const rates: [string, number, number][] = [];
  const make = (name: (typeof names)[number], pieces: number): Promise<number[]> =>
    byClients(pieces, async (piece) => {
      await paths[name](piece);
    });
  for (const name of names) await make(name, clients);
  for (let round = 1; round <= rounds; round++) {
    const rate = { managed: 0, collection: 0 };
    for (const name of names) {
      const startedAt = performance.now();
      const cpuBefore = familyCpuMs(shop.pid) ?? Number.NaN;
      const took = await make(name, Math.ceil(orders / rounds));
      cpuMs[name] += (familyCpuMs(shop.pid) ?? Number.NaN) - cpuBefore;
      const tookSeconds = (performance.now() - startedAt) / 1000;
      times[name].push(...took);
      seconds[name] += tookSeconds;
      rate[name] = took.length / tookSeconds;
    }
    rates.push([`round ${round}`, rate.managed, rate.collection]);
  }
  await sale.verify();
  const perSecond = (name: (typeof names)[number]): number => times[name].length / seconds[name];
  const p99Ms = (name: (typeof names)[number]): number => percentile(times[name], 0.99);
  return {
    figures: [
      { name: `managedOrdersPerSecondOf${clients}`, value: perSecond('managed'), unit: '/s' },
      { name: `managedAddressP99MsOf${clients}`, value: p99Ms('managed'), unit: 'ms' },
      {
        name: `collectionOrdersPerSecondOf${clients}`,
        value: perSecond('collection'),
        unit: '/s',
        target: { least: 150 },
      },
      { name: `collectionAddressP99MsOf${clients}`, value: p99Ms('collection'), unit: 'ms' },
      { name: 'managedCpuMs', value: cpuMs.managed / times.managed.length, unit: 'ms an order' },
      { name: 'collectionCpuMs', value: cpuMs.collection / times.collection.length, unit: 'ms an order' },
      { name: 'collectionByManaged', value: perSecond('collection') / perSecond('managed'), unit: 'times' },
      { name: 'itemsTaken', value: sale.refused, unit: 'orders' },
    ],
    table: { heads: ['orders a second', 'managed', 'collection'], rows: rates },
  };
}

/**
 * Makes an approved collection of small texts. One phase is for listed addresses, and a more expensive one for
 * everyone.
 */
async function openSale(shop: MintShop, folder: string, items: number): Promise<void> {
  await mkdir(folder, { recursive: true });
  const numbers = Array.from({ length: items }, (_, item) => item + 1);
  await inLanes(numbers, clients, (item) => writeFile(join(folder, `${item}.txt`), `item ${item}`));
  const listed = Array.from({ length: buyers }, (_, buyer) => [
    buyerAddress(buyers + buyer),
    { allocation: 2 },
  ]);
  await shop.made('/collection-create', {
    id: collection,
    name: 'Sold items',
    description: 'Small texts',
    creator: 'Ada',
    totalCount: items,
    price: 1500,
    'creator-address': buyerAddress(0),
    phases: [
      { id: 'friends', isPublic: 0, price: 1000, allowList: Object.fromEntries(listed) as object },
      { id: 'public', isPublic: 1 },
    ],
  });
  await shop.command(['mint', 'upload', collection, folder]);
  await shop.command(['mint', 'approve', collection]);
}

/** The sale of a collection's items to the clients. */
class Sale {
  /** Number of orders that were refused because another order had the item. */
  refused = 0;
  readonly #shop: MintShop;
  readonly #sold = new Map<number, string>();
  /**
   * Number of the next item that an order names. It starts at the last item and goes down, so each item is named once.
   */
  #nextRequested: number;

  constructor(shop: MintShop, items: number) {
    this.#shop = shop;
    this.#nextRequested = items;
  }

  /** Orders one item, drawn or named. If another order has drawn the named item meanwhile, it names another one. */
  async order(piece: number): Promise<void> {
    for (;;) {
      const wanted = piece % requestedEach === 0 ? { requestedIds: [this.#nextRequested--] } : { count: 1 };
      const { status, text } = await this.#shop.post('/collectionorder', {
        collection: { id: collection, ...wanted },
        receiveAddress: buyerAddress(piece % buyers),
        fee: 2,
      });
      if (status === 409 && 'requestedIds' in wanted && text.includes('Another order has')) {
        this.refused++;
        continue;
      }
      assert(status === 200, `an order of ${JSON.stringify(wanted)} was answered ${status}: ${text}`);
      this.#note(JSON.parse(text) as CollectionAnswer);
      return;
    }
  }

  #note({ id, charge, collection: { items } }: CollectionAnswer): void {
    assert(charge.address !== '' && items.length === 1, `order ${id} has an address and one item`);
    for (const item of items) {
      assert(
        !this.#sold.has(item),
        `item ${item} is in the orders ${String(this.#sold.get(item))} and ${id}`,
      );
      this.#sold.set(item, id);
    }
  }

  /** Throws unless the rows equal the responses, and the counters equal the rows. */
  async verify(): Promise<void> {
    const client = await this.#shop.pool.connect();
    try {
      const differing = await differingRows(client, collection);
      assert(differing.length === 0, `counters differ from rows: ${JSON.stringify(differing)}`);
      const { rows } = await client.query<{ item: number; order_id: string }>(
        'SELECT item, order_id FROM service.mint_items WHERE collection = $1 AND order_id IS NOT NULL',
        [collection],
      );
      assert(
        rows.length === this.#sold.size,
        `${rows.length} items are held, ${this.#sold.size} were answered`,
      );
      for (const { item, order_id: id } of rows)
        assert(this.#sold.get(item) === id, `item ${item} is held by ${id}, and was answered to another`);
    } finally {
      client.release();
    }
  }
}
