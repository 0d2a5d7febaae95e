import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type EndedItems,
  endedSaleFaults,
  type SaleSeen,
  saleFaults,
} from '#test/chaos/orders/items-verdict.ts';
import { propertyRuns } from '#test/support/property-runs.ts';

/** A sale of ten items. Order `a` has paid for two items, order `b` holds one item, and two items are inscribed. */
const sound: SaleSeen = {
  id: 'few',
  supply: 10,
  roomOfPhases: new Map([['friends', 2]]),
  held: [
    { order: 'a', phase: 'friends', isPaid: true, numbers: [3, 4] },
    { order: 'b', phase: 'everyone', isPaid: false, numbers: [7] },
  ],
  orderOfItem: new Map([
    [3, 'a'],
    [4, 'a'],
    [7, 'b'],
  ]),
  inscribed: new Map([
    [3, 1],
    [4, 1],
  ]),
  counters: [],
};
const ended: readonly EndedItems[] = [
  { order: 'a', collection: 'few', numbers: [3, 4], isDelivered: true },
  { order: 'b', collection: 'few', numbers: [7], isDelivered: false },
  { order: 'c', collection: 'many', numbers: [3], isDelivered: true },
];

describe('the verdict of a sale', () => {
  test('finds nothing in a sound one', () => {
    expect(saleFaults(sound)).toEqual([]);
    expect(endedSaleFaults(sound, ended)).toEqual([]);
  });

  test.each<[string, Partial<SaleSeen>, string[]]>([
    [
      'an item in two orders',
      { held: [...sound.held, { order: 'd', phase: 'everyone', isPaid: false, numbers: [7] }] },
      ['few: item 7 is in the orders b and d', 'few: item 7 is in the order d, and its row names b'],
    ],
    [
      'more than the supply',
      { supply: 2 },
      [
        'few: 3 of 2 items are with orders',
        'few: the order a has item 3 of 2',
        'few: the order a has item 4 of 2',
        'few: the order b has item 7 of 2',
      ],
    ],
    [
      'a phase that gave too much',
      { roomOfPhases: new Map([['friends', 1]]) },
      ['few: the phase friends gave 2 of 1 items'],
    ],
    [
      'a row without an order',
      { orderOfItem: new Map([...sound.orderOfItem, [9, 'd']]) },
      ['few: the row of item 9 names d, which has none'],
    ],
    [
      'an item that is inscribed twice',
      { inscribed: new Map([[3, 2]]) },
      ['few: item 3 is inscribed 2 times'],
    ],
    [
      'a counter',
      { counters: [{ kind: 'taken', where: null, noted: 4, found: 3 }] },
      ['few: taken  says 4, rows 3'],
    ],
    [
      'no allowance that was exceeded',
      { counters: [{ kind: 'allowance', where: 'x', noted: 1, found: 2 }] },
      [],
    ],
  ])('finds %s', (_, changed, faults) => {
    expect(saleFaults({ ...sound, ...changed })).toEqual(faults);
  });

  test('finds items at the end that are with the wrong number of buyers', () => {
    const twice = [...ended, { order: 'd', collection: 'few', numbers: [4], isDelivered: true }];
    expect(endedSaleFaults(sound, twice)).toEqual([
      'few: item 4 is inscribed 1 times, for 2 orders',
      'few: the order d was delivered, and has no items',
    ]);
    expect(endedSaleFaults({ ...sound, inscribed: new Map([[4, 1]]) }, ended)).toEqual([
      'few: item 3 is inscribed 0 times, for 1 orders',
    ]);
    expect(endedSaleFaults(sound, ended.slice(1))).toEqual([
      'few: item 3 is inscribed 1 times, for 0 orders',
      'few: item 4 is inscribed 1 times, for 0 orders',
      'few: the order a has its items for good, and no delivery',
    ]);
  });

  test('accepts a sale if and only if its orders have different items of it', () => {
    const items = fc.array(fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 3 }), {
      maxLength: 6,
    });
    fc.assert(
      fc.property(items, (lists) => {
        const held = lists.map((numbers, place) => {
          return { order: String(place), phase: 'everyone', isPaid: place % 2 === 0, numbers };
        });
        const all = lists.flat();
        const orderOfItem = new Map(
          held.flatMap(({ order, numbers }) => numbers.map((item) => [item, order])),
        );
        const isSound = new Set(all).size === all.length && all.every((item) => item <= sound.supply);
        const sale: SaleSeen = { ...sound, held, orderOfItem, inscribed: new Map() };
        expect(saleFaults(sale).length === 0).toBe(isSound);
      }),
      { numRuns: propertyRuns(100) },
    );
  });
});
