import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { attributesOfText, itemsOfText, noAttributes } from '#kernel/text/properties-text.ts';
import {
  propertyTexts,
  searchedTitleMax,
  searchedTraitsMax,
  textsOfAttributes,
  traitNeedle,
  traitTerms,
} from '#kernel/text/property-texts.ts';
import { propertyRuns } from '#test/support/property-runs.ts';

const text = fc.string({ unit: 'binary', maxLength: 20 });
const scalar = fc.oneof(text, fc.boolean(), fc.constant(null), fc.maxSafeInteger());
const traits = fc.uniqueArray(fc.tuple(text, scalar), { maxLength: 5, selector: ([name]) => name });
const attributesText = fc
  .tuple(fc.option(text), traits)
  .map(
    ([title, all]) =>
      `{"title":${JSON.stringify(title)},"traits":{${all.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`).join(',')}}}`,
  );

describe('texts of properties for searches', () => {
  test('is the folded beginning of a title', () => {
    expect(propertyTexts('Été', []).title).toBe('été');
    expect(propertyTexts('', []).title).toBeNull();
    expect(propertyTexts(null, []).title).toBeNull();
    const start = 'x'.repeat(searchedTitleMax - 1);
    expect(propertyTexts(`${start}yz`, []).title).toBe(`${start}y`);
    expect(propertyTexts(`${start}\u{1f600}z`, []).title).toBe(start);
    expect(propertyTexts(`${start.slice(1)}\u{1f600}z`, []).title).toBe(`${start.slice(1)}\u{1f600}`);
  });

  test('has every trait of the properties, and nothing else', () => {
    fc.assert(
      fc.property(traits, fc.tuple(text, text), (all, other) => {
        const pairs = all.map(([name, value]) => [name, String(value)] as const);
        const own = propertyTexts(null, pairs).traits;
        for (const pair of pairs) expect(own).toContain(traitNeedle(...pair));
        const isOne = pairs.some((pair) => traitNeedle(...pair) === traitNeedle(...other));
        expect(own?.includes(traitNeedle(...other)) ?? false).toBe(isOne);
        expect(traitTerms(own)).toHaveLength(new Set(pairs.map((pair) => traitNeedle(...pair))).size);
      }),
      { numRuns: propertyRuns(300) },
    );
  });

  test('does not depend on the order of traits, and is empty if there are too many', () => {
    const many = Array.from({ length: searchedTraitsMax }, (_, at) => [`${at}`, 'v'] as const);
    expect(propertyTexts(null, many).traits).toBe(propertyTexts(null, many.toReversed()).traits);
    expect(traitTerms(propertyTexts(null, many).traits)).toHaveLength(searchedTraitsMax);
    expect(propertyTexts(null, [...many, ['one', 'more']]).traits).toBeNull();
  });

  test('is the same from JSON, with all digits', () => {
    expect(textsOfAttributes('{"title":"T","traits":{"n":9223372036854775807,"2":true,"1":null}}')).toEqual(
      propertyTexts('T', [
        ['1', 'null'],
        ['2', 'true'],
        ['n', '9223372036854775807'],
      ]),
    );
    expect(textsOfAttributes(noAttributes)).toEqual({ title: null, traits: null });
  });
});

test('a text of properties is cut into the parts that it was made from', () => {
  const item = fc.record({
    id: fc.nat().map((value) => value.toString(16).padStart(64, '0')),
    own: fc.option(attributesText),
  });
  fc.assert(
    fc.property(fc.array(item, { maxLength: 8 }), attributesText, (items, own) => {
      const gallery = items.map(({ id, own: its }) => `{"id":"${id}i0","attributes":${its ?? noAttributes}}`);
      const json = `{"gallery":[${gallery.join(',')}],"attributes":${own}}`;
      expect(attributesOfText(json)).toBe(own);
      expect([...itemsOfText(json)]).toEqual(
        items.map(({ id, own: its }) => ({ id: `${id}i0`, attributes: its === noAttributes ? null : its })),
      );
    }),
    { numRuns: propertyRuns(500) },
  );
});
