import { expect, test } from 'vitest';
import { networks } from '#kernel/primitives/network.ts';
import { readWatchCondition } from '#watches/reading/read-watch.ts';
import type { WatchKind } from '#watches/watch.ts';

const id = `${'ab'.repeat(32)}i0`;
const address = 'bcrt1q6z64a43mjgkcq0ul2znwneq3spghrlau9slefp';
const read = (kind: WatchKind, body: Record<string, unknown>) =>
  readWatchCondition(kind, body, networks.regtest);

test('a saved search has the meanings of the query of /search', () => {
  expect(
    read('search', { text: 'BRC-20, Mint', webhookUrl: 'https://a.example', title: null }),
  ).toMatchObject({
    asked: { text: 'BRC-20, Mint' },
    condition: { search: { corpus: 'content', match: 'substring', needles: ['brc-20', 'mint'], filter: {} } },
  });
  expect(read('search', { text: 'a, b', phrase: true })).toMatchObject({
    condition: { search: { needles: ['a, b'] } },
  });
  expect(read('search', { metadata: 'Red a hat', words: '1' })).toMatchObject({
    condition: { search: { corpus: 'metadata', match: 'words', needles: ['red', 'a', 'hat'] } },
  });
  expect(read('search', { hash: 'AB'.repeat(32) })).toMatchObject({
    condition: { search: { hash: 'ab'.repeat(32), needles: [] } },
  });
  expect(read('search', { trait: 'Hat:Red,Eyes:Blue', key: 'k', value: 'v', parent: id })).toMatchObject({
    condition: {
      search: {
        filter: {
          traits: [
            { name: 'Hat', value: 'Red' },
            { name: 'Eyes', value: 'Blue' },
          ],
          metadata: { key: 'k', value: 'v' },
          parent: { index: 0 },
        },
      },
    },
  });
});

test.each<[WatchKind, Record<string, unknown>, string, string]>([
  ['search', {}, 'text', 'needs text, metadata, hash, or a filter'],
  ['search', { cursed: true }, 'text', 'nearly everything'],
  ['search', { text: 'ab' }, 'text', 'fewer than 3 bytes'],
  ['search', { text: 'x'.repeat(65_536) }, 'text', 'has more than 40000 characters'],
  ['search', { text: 'x'.repeat(1001) }, 'text', 'a needle is longer than 1000 characters'],
  ['search', { text: Array.from({ length: 33 }, (_, n) => `needle ${n}`).join(',') }, 'text', '33 needles'],
  [
    'search',
    { text: Array.from({ length: 5 }, (_, n) => `${'x'.repeat(900)}${n}`).join(',') },
    'text',
    'have 4505 bytes together',
  ],
  ['search', { text: ' , ' }, 'text', 'nothing to search for'],
  ['search', { text: 'a\0b c' }, 'text', 'NUL'],
  ['search', { text: 7 }, 'text', 'must be a text'],
  ['search', { metadata: 'a', text: 'abc' }, 'metadata', 'only one of text, metadata'],
  ['search', { text: 'abc', fuzzy: true }, 'fuzzy', 'cannot be saved'],
  ['search', { text: 'abc', from: 1 }, 'from', 'from now on'],
  ['search', { text: 'abc', to: 1 }, 'to', 'from now on'],
  ['search', { text: 'abc', titel: 'x' }, 'titel', 'is not a field of a saved search'],
  ['search', { text: 'abc', phrase: true, words: true }, 'phrase', 'excludes words'],
  ['search', { hash: 'ab'.repeat(32), words: true }, 'words', 'only be used with text'],
  ['search', { hash: 'xyz' }, 'hash', '64 hex digits'],
  ['search', { contentType: '*' }, 'contentType', 'exact type'],
  ['search', { trait: 'Hat' }, 'trait', 'Name:Value'],
  ['search', { title: 'x' }, 'title', 'fewer than 3 bytes'],
  ['search', { parent: 'x' }, 'parent', 'not an inscription id'],
  ['children', {}, 'parent', 'required'],
  ['children', { parent: id, text: 'abc' }, 'text', 'not a field of a watch of children'],
  ['sales', {}, 'collection', 'every sale'],
  ['sales', { minPrice: 0 }, 'collection', 'every sale'],
  ['sales', { minPrice: 2, maxPrice: 1 }, 'minPrice', 'above maxPrice'],
  ['sales', { minPrice: -1 }, 'minPrice', 'whole number'],
  ['sales', { collection: '../x' }, 'collection', 'slug'],
  ['runes', {}, 'event', 'required'],
  ['runes', { event: 'minted' }, 'event', 'etched, minted-out'],
  ['runes', { event: 'etched', rune: 'uncommon' }, 'rune', 'not the name of a rune'],
  ['receipts', {}, 'address', 'required'],
  ['receipts', { address: 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq' }, 'address', 'another network'],
])('%s %j is refused for %s', (kind, body, parameter, words) => {
  const refused = read(kind, body);
  expect(refused.kind).toBe('faulty');
  expect(refused.kind === 'faulty' && refused.faults[0]).toMatchObject({
    parameter,
    message: expect.stringContaining(words) as string,
  });
});

test('the other kinds are read', () => {
  expect(read('children', { parent: id })).toMatchObject({
    condition: { kind: 'children', search: { filter: { parent: { index: 0 } } } },
  });
  expect(read('sales', { collection: 'punks', minPrice: 1000, maxPrice: '2000', address })).toMatchObject({
    asked: { collection: 'punks', minPrice: 1000, maxPrice: '2000', address },
    condition: { sales: { collection: 'punks', minPrice: 1000, maxPrice: 2000 } },
  });
  expect(read('runes', { event: 'minted-out', rune: 'UNCOMMON•GOODS' })).toMatchObject({
    condition: { runes: { event: 'minted-out' } },
  });
  expect(read('receipts', { address })).toMatchObject({ condition: { kind: 'receipts' } });
});
