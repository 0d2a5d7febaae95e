import fc from 'fast-check';
import { expect, test } from 'vitest';
import { propertyRuns } from '#test/support/property-runs.ts';
import { forgetOrder, orderIdOf, ownOrders, rememberOrder } from '#web/assets/script/order/own-orders.js';

const id = (number: number): string => `6f1c2b1e-5a0e-4c55-9d0c-${String(number).padStart(12, '0')}`;

function storage(text: string | null = null) {
  let kept = text;
  return {
    getItem: () => kept,
    setItem: (_: string, value: string) => {
      kept = value;
    },
  };
}

test('orders are kept newest first, each once, fifty at most, and forgotten', () => {
  const own = storage();
  for (let number = 0; number < 60; number++)
    rememberOrder(own, { id: id(number), at: number, words: '1 inscription' });
  rememberOrder(own, { id: id(30), at: 100, words: 'again' });
  const orders = ownOrders(own);
  expect([orders.length, orders[0]!.words, orders[1]!.id]).toEqual([50, 'again', id(59)]);
  forgetOrder(own, id(30));
  expect(ownOrders(own).map((order) => order.id)).not.toContain(id(30));
});

test('the page has a list, whatever is stored', () => {
  fc.assert(
    fc.property(fc.oneof(fc.json(), fc.string()), (text) => {
      for (const order of ownOrders(storage(text))) expect(orderIdOf(`#${order.id}`)).toBe(order.id);
    }),
    { numRuns: propertyRuns(300) },
  );
});

test('a browser that keeps nothing has no orders, and says so', () => {
  const refusing = {
    getItem: (): string | null => {
      throw new Error('denied');
    },
    setItem: (): void => {
      throw new Error('denied');
    },
  };
  expect(ownOrders(refusing)).toEqual([]);
  expect(rememberOrder(refusing, { id: id(1), at: 1, words: '' })).toBe(false);
});

test('an id is only read from a fragment, in upper or lower case', () => {
  expect(orderIdOf(`#${id(1).toUpperCase()}`)).toBe(id(1));
  expect(['', '#', '#main', `#${id(1)}x`].map(orderIdOf)).toEqual([null, null, null, null]);
});
