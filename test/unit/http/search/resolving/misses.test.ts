import fc from 'fast-check';
import { expect, test } from 'vitest';
import { missesOf } from '#http/search/resolving/misses.ts';
import { networks } from '#kernel/primitives/network.ts';
import { propertyRuns } from '#test/support/property-runs.ts';

const misses = (text: string, ...kinds: ('rune' | 'sat' | 'block')[]): string[] =>
  missesOf(
    text,
    kinds.map((kind) => ({ kind })),
    networks.regtest,
  );

test.each([
  ['116:1', 'No rune with this id is known here.'],
  ['99999999999:1', 'No rune with this id is known here.'],
  ['NO•SUCH•RUNE', 'No rune with this name is known here.'],
  ['no•such•rune', 'No rune with this name is known here.'],
  ['2099999997690000', 'No inscription, block or sat with this number is known here.'],
  ['101%', 'No sat has this notation. The last sat is 2,099,999,997,689,999, at 100 %.'],
  ['9°0′0″', 'No sat has this notation. The last sat is 2,099,999,997,689,999, at 100 %.'],
  [
    'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4',
    'This is an address of another network, but this server follows regtest.',
  ],
])('%s has a sentence about what was looked for', (text, sentence) => {
  expect(misses(text)).toEqual([sentence]);
});

test('things that exist, and texts that are usually words, have no sentence', () => {
  expect(misses('116:1', 'rune')).toEqual([]);
  expect(misses('A•RUNE', 'rune')).toEqual([]);
  expect(misses('5', 'block')).toEqual([]);
  for (const text of ['word', 'two words', 'A RUNE', '1.5', '99999999.5', 'nvtdijuwxlq', '', '😀'])
    expect(misses(text)).toEqual([]);
});

test('any text has an answer', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      expect(misses(text).length).toBeLessThanOrEqual(2);
    }),
    { numRuns: propertyRuns(200) },
  );
});
