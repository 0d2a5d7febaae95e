import type { Random } from '#test/builders/random.ts';
import { addressOf } from '#test/builders/regtest/regtest-transaction.ts';
import { listed, sales } from './item-sale.ts';
import { hexOf, type OrderWish, ownersOf, referralOf } from './order-wishes.ts';

/** Share of orders of items that want items of the collection that sells out. */
const fewShare = 0.4;
const namedShare = 0.4;
const listedShare = 0.5;

/** Items of an order, by their numbers in the collection. */
export interface OrderedItems {
  readonly collection: string;
  readonly numbers: readonly number[];
}

/** The request of a customer who buys drawn or named items. Some items are for an address that others name too. */
export function itemWishOf(
  random: Random,
  number: number,
  from: 'any' | 'many' = 'any',
): OrderWish & { readonly kind: 'items' } {
  const { id, items } = sales[from === 'any' && random.unit() < fewShare ? 0 : 1]!;
  const count = 1 + random.below(id === 'few' ? 2 : 3);
  const [refund, home, own] = ownersOf(number);
  const receiver = random.unit() < listedShare ? listed[random.below(listed.length)]! : own!;
  return {
    kind: 'items',
    path: '/collectionorder',
    contents: [],
    body: {
      collection: { id, ...(random.unit() < namedShare ? named(random, count, items) : { count }) },
      receiveAddress: addressOf(receiver),
      refundAddress: addressOf(refund!),
      fee: random.unit() < 0.3 ? 6 : 2,
      token: 'solved',
      ...referralOf(random),
    },
    receivers: [hexOf(receiver)],
    refund: hexOf(refund!),
    home: hexOf(home!),
    allowed: null,
    rareSats: null,
    parent: null,
  };
}

/** Consecutive items that begin at a random item. */
function named(random: Random, count: number, items: number): { readonly requestedIds: readonly number[] } {
  const first = random.below(items);
  return { requestedIds: Array.from({ length: count }, (_, place) => ((first + place) % items) + 1) };
}
