import type pg from 'pg';
import { CustomerFiles } from '#orders/files/customer-files.ts';
import { addressOf, scriptOf } from '#test/builders/regtest/regtest-transaction.ts';
import { type CollectionSpec, insertCollection } from '#test/support/collections/collection-rows.ts';

/** The owner who gets the price of the items. */
export const creator = 19_940;
/** Owners of addresses on lists. Many orders name the same address. */
export const listed = [19_950, 19_951, 19_952, 19_953] as const;

const allowing = (...items: readonly (number | null)[]) =>
  items.map((allowed, place) => ({ script: scriptOf(listed[place]!), items: allowed }));

/** A collection whose items have unique contents. */
export type ItemSale = CollectionSpec & { readonly prefix: string };

/** Collections of a run: one sells out, and one does not. */
export const sales: readonly ItemSale[] = [
  {
    id: 'few',
    items: 8,
    prefix: 'few item ',
    price: 1500,
    creatorAddress: addressOf(creator),
    phases: [
      { phase: 'friends', items: 4, price: 1000, listed: allowing(1, 2) },
      { phase: 'everyone', isPublic: true },
    ],
  },
  {
    id: 'many',
    items: 400,
    prefix: 'many item ',
    price: 2500,
    creatorAddress: addressOf(creator),
    phases: [
      { phase: 'friends', items: 100, price: 2000, listed: allowing(2, 3, 5, null) },
      { phase: 'everyone', isPublic: true },
    ],
  },
];

/** The content of an item, which no other inscription has. */
export const textOfItem = ({ prefix }: ItemSale, item: number): string => `${prefix}${item - 1}`;

/** Makes collections in the state after their approval, with their files on the disk of the service. */
export async function openSales(
  pool: pg.Pool,
  filesDir: string,
  opened: readonly ItemSale[] = sales,
): Promise<void> {
  const files = new CustomerFiles(filesDir);
  for (const sale of opened) {
    for (let item = 1; item <= sale.items; item++) await files.put(Buffer.from(textOfItem(sale, item)));
    await insertCollection(pool, sale);
  }
}
