import fc from 'fast-check';
import { expect, test } from 'vitest';
import { networks } from '#kernel/primitives/network.ts';
import { readCollectionOrder } from '#orders/collections/read-collection-order.ts';
import { addressOf, scriptOf } from '#test/builders/regtest/regtest-transaction.ts';
import { propertyBounds } from '#test/support/property-runs.ts';

const receiveAddress = addressOf(800);
const read = (body: unknown) => readCollectionOrder(body, networks.regtest);

test.each([
  [
    { id: 'moths', count: 2 },
    { kind: 'drawn', count: 2 },
  ],
  [
    { id: 'moths', count: '3' },
    { kind: 'drawn', count: 3 },
  ],
  [
    { id: 'moths', requestedIds: [9, '4'] },
    { kind: 'named', numbers: [9, 4] },
  ],
  [
    { id: 'moths', count: 1, requestedIds: [9] },
    { kind: 'named', numbers: [9] },
  ],
])('%j names items', (collection, items) => {
  const order = read({ collection, receiveAddress: [receiveAddress], token: 'solved' });
  expect(order).toMatchObject({ kind: 'collection-order', collection: 'moths', items, token: 'solved' });
  expect('script' in order && Buffer.from(order.script)).toEqual(Buffer.from(scriptOf(800)));
});

test.each([
  [undefined, 'collection'],
  ['moths', 'collection'],
  [{ count: 1 }, 'collection.id'],
  [{ id: 'moths' }, 'collection.count'],
  [{ id: 'moths', count: 0 }, 'collection.count'],
  [{ id: 'moths', count: 1001 }, 'collection.count'],
  [{ id: 'moths', count: -1 }, 'collection.count'],
  [{ id: 'moths', requestedIds: [] }, 'collection.requestedIds'],
  [{ id: 'moths', requestedIds: [1, '1'] }, 'collection.requestedIds'],
  [{ id: 'moths', requestedIds: [0] }, 'collection.requestedIds[0]'],
  [{ id: 'moths', requestedIds: ['a'] }, 'collection.requestedIds[0]'],
  [{ id: 'moths', requestedIds: [1], count: 2 }, 'collection.count'],
])('%j is refused, and the faulty field is named', (collection, parameter) => {
  const order = read({ collection, receiveAddress });
  expect(order.kind === 'faulty' && order.faults.map((fault) => fault.parameter)).toContain(parameter);
});

test('one address gets all items of an order', () => {
  const collection = { id: 'moths', count: 2 };
  const two = read({ collection, receiveAddress: [receiveAddress, addressOf(801)] });
  expect(two.kind).toBe('faulty');
  expect(read({ collection }).kind).toBe('faulty');
  expect(readCollectionOrder({ collection }, networks.regtest, 'price')).toMatchObject({ isKnown: false });
});

test('any value is read', () => {
  fc.assert(
    fc.property(fc.anything(), fc.anything(), (collection, address) => {
      read(collection);
      read({ collection, receiveAddress: address });
    }),
    propertyBounds(500),
  );
});
