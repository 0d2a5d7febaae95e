import fc from 'fast-check';
import { expect, test } from 'vitest';
import { foldText } from '#kernel/text/fold.ts';
import { indexPair } from '#kernel/text/index-pair.ts';
import { metadataMembersLengthMax } from '#kernel/text/searchable.ts';
import { indexTerm, indexTermOfBytes, valueOfTerm } from '#search/text/index-term.ts';
import { metadataTerms } from '#search/text/metadata-terms.ts';

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
  expect(metadataTerms('"Alone"')).toEqual({ keys: [], values: ['alone'], pairs: [] });
  expect(metadataTerms('{}')).toEqual({ keys: [], values: [], pairs: [] });
  for (const broken of ['{', '', '[}', '{"a":"', '"\\q"']) expect(metadataTerms(broken)).toBeNull();
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

test('repeated members are both there, and a value belongs to the nearest name', () => {
  const terms = metadataTerms('{"a":1,"a":{"a":2,"b":["x",["y",{"c":[]}],"z"]},"a":[{"d":"\\"e\\\\"},3]}');
  expect(new Set(terms?.pairs)).toEqual(
    new Set(
      [
        ['a', '1'],
        ['a', '2'],
        ['b', 'x'],
        ['b', 'y'],
        ['b', 'z'],
        ['d', '"e\\'],
        ['a', '3'],
      ].map(([key, value]) => indexPair(key!, value!)),
    ),
  );
});

test('every JSON is read as JavaScript reads it, and a long text has no terms', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const [names, scalars]: [string[], string[]] = [[], []];
      const visit = (one: unknown): void => {
        if (typeof one !== 'object' || one === null)
          scalars.push(typeof one === 'string' ? one : JSON.stringify(one));
        else if (Array.isArray(one)) one.forEach(visit);
        else
          for (const [name, member] of Object.entries(one)) {
            names.push(name);
            visit(member);
          }
      };
      const json = JSON.stringify(value);
      visit(JSON.parse(json));
      const terms = metadataTerms(json);
      expect(new Set(terms?.keys)).toEqual(new Set(names.map((name) => indexTerm(foldText(name)))));
      expect(new Set(terms?.values)).toEqual(new Set(scalars.map((text) => indexTerm(foldText(text)))));
    }),
  );
  expect(metadataTerms(JSON.stringify('x'.repeat(metadataMembersLengthMax - 2)))).not.toBeNull();
  expect(metadataTerms(JSON.stringify('x'.repeat(metadataMembersLengthMax - 1)))).toBeNull();
});

test('terms of different values are different, whatever they are', () => {
  const long = 'l'.repeat(600);
  const values = ['', 'a', '\0', '\0a', '\0s', `\0${indexTerm(long)}`, indexTerm(long), long, '\0\0s'];
  expect(new Set(values.map(indexTerm)).size).toBe(new Set(values).size);
  for (const value of values) expect(valueOfTerm(indexTerm(value))).toBe(value === long ? null : value);
});

test('bytes that are no UTF-8 have a term where they are long alone', () => {
  expect(indexTermOfBytes(null)).toBeNull();
  expect(indexTermOfBytes(Buffer.from([0x61, 0xff]))).toBeNull();
  expect(indexTermOfBytes(Buffer.from('\ufeffa/b'))).toBe('\ufeffa/b');
  const long = indexTermOfBytes(Buffer.alloc(513, 0xff));
  expect(long).not.toBeNull();
  expect(valueOfTerm(long!)).toBeNull();
});
