import { expect, test } from 'vitest';
import { indexPair, indexTerm } from '#search/elastic/index-term.ts';
import { metadataTerms } from '#search/elastic/metadata-terms.ts';

test('keys, values and pairs of every depth are found, folded', () => {
  const terms = metadataTerms('{"Name":"FOO","attributes":[{"Eyes":"Blue"},{"n":1}],"list":[true,null,"x"]}');
  expect(new Set(terms?.keys)).toEqual(new Set(['name', 'attributes', 'eyes', 'n', 'list']));
  expect(new Set(terms?.values)).toEqual(new Set(['foo', 'blue', '1', 'true', 'null', 'x']));
  expect(new Set(terms?.pairs)).toEqual(
    new Set(
      [
        ['name', 'foo'],
        ['eyes', 'blue'],
        ['n', '1'],
        ['list', 'true'],
        ['list', 'null'],
        ['list', 'x'],
      ].map(([key, value]) => indexPair(key!, value!)),
    ),
  );
});

test('numbers keep all of their digits', () => {
  expect(metadataTerms('[18446744073709551615,1.0,-0]')?.values).toEqual(
    expect.arrayContaining(['18446744073709551615', '1.0', '-0']),
  );
});

test('terms are bounded, and long ones differ where the values do', () => {
  const [a, b] = ['a', 'b'].map((end) => indexTerm('é'.repeat(5000) + end));
  expect(a).not.toBe(b);
  expect(Buffer.byteLength(a!)).toBeLessThan(100);
  expect(indexTerm('é'.repeat(256))).toBe('é'.repeat(256));
});

test('a value alone, an empty object and what is no JSON', () => {
  expect(metadataTerms('"Alone"')).toEqual({ keys: [], values: ['alone'], pairs: ['\0alone'] });
  expect(metadataTerms('{}')).toEqual({ keys: [], values: [], pairs: [] });
  expect(metadataTerms('{')).toBeNull();
});

test('a very deep text is read', () => {
  const depth = 3000;
  expect(metadataTerms(`${'['.repeat(depth)}1${']'.repeat(depth)}`)?.values).toEqual(['1']);
});

test('a key of JavaScript itself is a key like all others', () => {
  const terms = metadataTerms('{"__proto__":"x","constructor":"y"}');
  expect(terms?.pairs).toEqual(
    expect.arrayContaining([indexPair('__proto__', 'x'), indexPair('constructor', 'y')]),
  );
});
