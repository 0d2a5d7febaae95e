import fc from 'fast-check';
import { expect, test } from 'vitest';
import { holdersIn } from '#market/lists/item-holders.store.ts';

const holder = fc.record({
  items: fc.integer({ min: 1, max: 100_000 }),
  script: fc.uint8Array({ maxLength: 128 }),
});

test('a page of packed holders is that part of them', () => {
  fc.assert(
    fc.property(fc.array(holder), fc.nat(20), fc.nat(20), (holders, offset, limit) => {
      const packed = Buffer.concat(
        holders.flatMap(({ items, script }) => {
          const head = Buffer.alloc(8);
          head.writeInt32BE(items);
          head.writeInt32BE(script.length, 4);
          return [head, script];
        }),
      );
      const page = holdersIn(packed, offset, limit).map(({ items, script }) => ({
        items,
        script: Uint8Array.from(script),
      }));
      expect(page).toEqual(holders.slice(offset, offset + limit));
    }),
  );
});
