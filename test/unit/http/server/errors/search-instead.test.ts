import { expect, test } from 'vitest';
import { searchInstead } from '#http/server/errors/search-instead.ts';

const hash = 'ab'.repeat(32);

test.each([
  ['/rune/dog%E2%80%A2go', 'dog•go'],
  ['/collection/ORBITS?page=2', 'ORBITS'],
  ['/rune/dog/holders', 'dog'],
  [`/inscription/${hash}i7`, hash],
  [`/output/${hash}:7`, hash],
  [`/sale/${hash}`, hash],
  ['/sat/101%25', '101%'],
  ['/inscription/%3Cb%3E', '<b>'],
])('an error at %s offers a search', (url, text) => {
  expect(searchInstead(url, false)).toEqual({
    text,
    href: `/?${new URLSearchParams({ q: text }).toString()}`,
  });
});

test.each([
  '/inscriptions?kind=bogus',
  '/market',
  '/order/0b8f1c1e-1111-4222-8333-444455556666',
  '/rune/0b8f1c1e-1111-4222-8333-444455556666',
  '/rune/%ff',
  '/rune/%20',
  `/rune/${'A'.repeat(201)}`,
])('an error at %s offers no search', (url) => {
  expect(searchInstead(url, false)).toBeNull();
});

test('an unknown path is searched if it has one part', () => {
  expect(searchInstead('/orbits', true)?.text).toBe('orbits');
  expect(searchInstead('/wp-admin/setup.php', true)).toBeNull();
  expect(searchInstead('/0b8f1c1e-1111-4222-8333-444455556666', true)).toBeNull();
});
