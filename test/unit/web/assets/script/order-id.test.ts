import { expect, test } from 'vitest';
import { beginsOrderId, orderPageOf } from '#web/assets/script/order-id.js';

const id = '6f1c2b1e-5a0e-4c55-9d0c-0b8f7f0b9a11';

test('neither a typed id beyond its first group nor a link with one is sent', () => {
  for (let typed = 9; typed < id.length; typed++) expect(beginsOrderId(id.slice(0, typed))).toBe(true);
  expect(beginsOrderId(`https://satscribe.example/order#${id.slice(0, 5)}`)).toBe(true);
  expect(orderPageOf(` ${id.toUpperCase()} `)).toBe(`/order#${id}`);
});

test('hashes, runes and words still get suggestions', () => {
  for (const text of [
    '6f1c2b1e',
    'ab'.repeat(32),
    `${'ab'.repeat(32)}i0`,
    'well-known',
    'order',
    'bitcoin-frogs',
  ])
    expect(beginsOrderId(text)).toBe(false);
});
