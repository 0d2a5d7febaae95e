import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { plainTitle, titleAndTraits } from '#web/titles-and-traits.ts';

const read = (metadata: unknown, attributes: unknown = null) =>
  titleAndTraits({
    attributesJson: attributes === null ? null : JSON.stringify(attributes),
    metadataJson: JSON.stringify(metadata),
  });

describe('titleAndTraits', () => {
  test('reads ord’s properties before metadata', () => {
    const traits = { eyes: 'red', level: 3, rare: true, nothing: null };
    expect(read({ name: 'other' }, { title: 'Frog', traits })).toEqual({
      title: 'Frog',
      traits: [
        { name: 'eyes', value: 'red' },
        { name: 'level', value: '3' },
        { name: 'rare', value: 'true' },
      ],
    });
  });

  test('reads the forms that collections use', () => {
    const attributes = [{ trait_type: 'Eyes', value: 'red' }, { value: 'alone' }, 'text', [1]];
    expect(read({ name: ' Frog ', attributes })).toEqual({
      title: 'Frog',
      traits: [
        { name: 'Eyes', value: 'red' },
        { name: null, value: 'alone' },
        { name: null, value: 'text' },
      ],
    });
    expect(read({ title: 'T', traits: { a: 1 } })).toEqual({
      title: 'T',
      traits: [{ name: 'a', value: '1' }],
    });
  });

  test('keeps large numbers exact', () => {
    const attributesJson = '{"title":"T","traits":{"n":9223372036854775807}}';
    expect(titleAndTraits({ attributesJson, metadataJson: null }).traits).toEqual([
      { name: 'n', value: '9223372036854775807' },
    ]);
  });

  test('has no invisible title', () => {
    expect(read({ name: '\u200b\u202e', title: 'Frog' }).title).toBe('Frog');
    expect(read({ name: '\u3164\u2800' }).title).toBeNull();
  });

  test('bounds texts of strangers', () => {
    const many = Object.fromEntries(Array.from({ length: 100 }, (_, nth) => [`t${nth}`, 'x'.repeat(1_000)]));
    const { title, traits } = read({ name: 'x'.repeat(121), attributes: many });
    expect(title).toBeNull();
    expect(traits).toHaveLength(40);
    expect(traits[0]!.value).toHaveLength(201);
    expect(titleAndTraits({ attributesJson: '{"title":"cut', metadataJson: '{' })).toEqual({
      title: null,
      traits: [],
    });
  });

  test('has an answer for any JSON', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (metadata, attributes) => {
        const { traits } = read({ attributes: metadata, traits: metadata }, { traits: attributes });
        return traits.every(({ value }) => typeof value === 'string');
      }),
    );
  });
});

test('plainTitle removes characters that reverse, hide or break text', () => {
  expect(plainTitle('\u202ea\n\u0000b\u200b c')).toBe('ab c');
});
