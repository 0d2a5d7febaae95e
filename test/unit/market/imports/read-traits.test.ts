import fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatTraitPairs, parseTraitPairs } from '#kernel/text/trait-pairs.ts';
import { ImportFaults } from '#market/imports/import-faults.ts';
import { itemTraitsMax, TraitReader } from '#market/imports/read-traits.ts';
import { traitChoices } from '#web/parts/item-traits.ts';

function read(attributes: unknown) {
  const faults = new ImportFaults();
  const traits = new TraitReader(faults).traitsOf(attributes, 'item 1');
  return { traits, leftOut: faults.leftOut.first.map(({ where, why }) => `${where}: ${why}`) };
}
const trait = (type: unknown, value: unknown): object => ({ trait_type: type, value });

test('texts, numbers and booleans are values, each once, and empty ones leave no trait', () => {
  const { traits, leftOut } = read([
    trait(' Sky\n', 'Dawn '),
    trait('Moons', 3),
    trait('Tilt', -0.5),
    trait('Ring', false),
    trait('Sky', 'Dawn'),
    trait('Sky', 'Dusk'),
    trait('Hat', ''),
    trait('Eyes', null),
    trait('', 'a value'),
  ]);
  expect(traits.map(({ name, value }) => `${name}=${value}`)).toEqual([
    'Sky=Dawn',
    'Moons=3',
    'Tilt=-0.5',
    'Ring=false',
    'Sky=Dusk',
  ]);
  expect(leftOut).toEqual([]);
  expect([read(undefined), read(null), read([])].map((none) => none.traits)).toEqual([[], [], []]);
});

test.each([
  ['an object', { Sky: 'Dawn' }, /^item 1, attributes: they are not a list$/u],
  ['texts', ['Dawn'], /attribute 1: it is not an object/u],
  ['a value of lists', [trait('Sky', ['Dawn'])], /attribute 1, value: it is not a text/u],
  ['a large number', [trait('Sky', 2 ** 60)], /value: it is a number with too many digits/u],
  [
    'a mark of direction',
    [trait('S\u202eky', 'Dawn')],
    /trait_type: it has a control character or a character that changes the direction/u,
  ],
  ['NUL', [trait('Sky', 'a\0')], /value: it has a control character/u],
  ['half a pair', [trait('Sky', '\ud800')], /value: it is not valid Unicode/u],
  ['length', [trait('Sky', 'x'.repeat(101))], /value: it has more than 100 characters/u],
])('%s: what is wrong is left out, and said', (_what, attributes, message) => {
  const { traits, leftOut } = read(attributes);
  expect([traits, leftOut.length]).toEqual([[], 1]);
  expect(leftOut[0]).toMatch(message);
});

test('more traits than the bound are left out, and said once', () => {
  const { traits, leftOut } = read(Array.from({ length: itemTraitsMax + 5 }, (_, nth) => trait('T', nth)));
  expect([traits.length, leftOut]).toEqual([
    itemTraitsMax,
    ['item 1, attributes: only the first 40 are kept'],
  ]);
});

const hostile = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc
    .array(fc.constantFrom('\\', ',', ':', '"', '<', '&', '\u0301', '\u202e', 'a'), { maxLength: 8 })
    .map((all) => all.join('')),
  fc.double(),
  fc.boolean(),
);

test('the link of any trait that is read asks for that trait alone', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(hostile, hostile), { maxLength: 8 }), (given) => {
      const { traits } = read(given.map(([type, value]) => trait(type, value)));
      if (traits.length === 0) return;
      expect(parseTraitPairs(formatTraitPairs(traits))).toEqual(traits);
      const links: string[] = [];
      const shown = traitChoices(
        traits.map(({ name, value }) => ({ name, total: 1, values: [{ value, items: 1 }] })),
        [],
        (asked) => {
          const address = `/collection/x?${new URLSearchParams({ trait: formatTraitPairs(asked) }).toString()}`;
          links.push(new URL(address, 'https://example.com').searchParams.get('trait') ?? '');
          return address;
        },
      );
      expect(links.map(parseTraitPairs)).toEqual(traits.map((one) => [one]));
      expect(JSON.stringify(shown)).not.toMatch(
        /<(?!\/?(?:a|bdi|details|div|li|small|span|summary|ul)[ >])/u,
      );
    }),
  );
});
