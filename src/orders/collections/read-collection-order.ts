import { collectionBounds } from '#collections/collection/collection-bounds.ts';
import type { HoldRequest } from '#collections/selling/hold-request.ts';
import type { NetworkParameters } from '#kernel/primitives/network.ts';
import { type Faulty, isGiven, RequestValues } from '#kernel/requests/request-values.ts';
import { readAddress } from '#orders/reading/read-order.ts';

/** An order of a collection, as its client described it. */
export interface CollectionOrder extends Pick<HoldRequest, 'collection' | 'items' | 'script'> {
  readonly kind: 'collection-order';
  /** Whether the request contains the address. A request of a price may omit the address. */
  readonly isKnown: boolean;
  /** The token that shows that a person solved a challenge. Null if no token was sent. */
  readonly token: string | null;
}

/**
 * Reads which items of which collection are ordered (client-compat 3.11), and for which address. All items of an order
 * go to the same address, because an allowance belongs to one address. Never throws.
 */
export function readCollectionOrder(
  body: unknown,
  network: NetworkParameters,
  purpose: 'order' | 'price' = 'order',
): CollectionOrder | Faulty {
  const values = new RequestValues();
  const order = values.object(body, 'order') ?? {};
  const given = values.object(order['collection'] ?? null, 'collection') ?? {};
  const collection = values.text(given['id'], 'collection.id') ?? '';
  if (values.faults.length === 0) values.required(given['id'], 'collection.id');
  const items = readItems(values, given);
  const address = oneAddress(order['receiveAddress']);
  const script = readAddress(values, address, 'receiveAddress', { network, purpose });
  const token = values.text(order['token'], 'token');
  const isKnown = isGiven(address);
  const { faults } = values;
  return faults.length > 0
    ? { kind: 'faulty', faults }
    : { kind: 'collection-order', collection, items, script, isKnown, token };
}

/**
 * Accepts a list with a single address, because clients may send their only address as a list. Any other list is
 * refused later, because it is not an address.
 */
const oneAddress = (given: unknown): unknown =>
  Array.isArray(given) && given.length === 1 ? (given[0] as unknown) : given;

function readItems(
  values: RequestValues,
  given: Readonly<Record<string, unknown>>,
): CollectionOrder['items'] {
  const { itemsOfOrder: most } = collectionBounds;
  const hasNumbers = isGiven(given['requestedIds']);
  const count = values.whole(given['count'], 'collection.count');
  if (!hasNumbers) {
    if (count === null) values.required(given['count'], 'collection.count');
    else if (count < 1n || count > BigInt(most))
      values.fault('collection.count', `must be from 1 to ${most}`);
    return { kind: 'drawn', count: Number(count ?? 1n) };
  }
  const requested = values.list(given['requestedIds'], 'collection.requestedIds');
  const numbers = requested.map((item, place) =>
    readNumber(values, item, `collection.requestedIds[${place}]`),
  );
  if (requested.length > most) values.fault('collection.requestedIds', `has more than ${most} items`);
  else if (requested.length === 0) values.fault('collection.requestedIds', 'is empty');
  else if (new Set(numbers).size < numbers.length)
    values.fault('collection.requestedIds', 'names an item twice');
  if (count !== null && count !== BigInt(requested.length))
    values.fault(
      'collection.count',
      `is ${count}, but requestedIds has ${requested.length} items; send only one of these fields`,
    );
  return { kind: 'named', numbers };
}

function readNumber(values: RequestValues, given: unknown, name: string): number {
  const number = values.whole(given, name);
  if (number === null) values.required(given, name);
  else if (number < 1n || number > BigInt(collectionBounds.items))
    values.fault(name, `must be the number of an item, from 1 to ${collectionBounds.items}`);
  return Number(number ?? 0n);
}
