import { Encoder } from 'cbor-x';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cborToJson } from '#indexer/parse/cbor/cbor-json.ts';
import { propertyRuns } from '#test/support/property-runs.ts';
import { fixtureLines } from '#test/unit/indexer/parse/fixtures.ts';

const json = (hex: string): string | null => cborToJson(Buffer.from(hex, 'hex'));

describe('cborToJson', () => {
  test.each([
    ['182a', '42'],
    ['1b0000000000000001', '1'],
    ['1b001fffffffffffff', '9007199254740991'],
    ['3b001ffffffffffffe', '-9007199254740991'],
    ['a16161f5', '{"a":true}'],
    ['83f4f6fb3ff8000000000000', '[false,null,1.5]'],
    ['60', '""'],
    ['6568c3a96c6c', '"héll"'],
    ['6668c3a96c6c6f', '"héllo"'],
    ['62220a', '"\\"\\n"'],
    ['bf61619f0102ff61627f617862797affff', '{"a":[1,2],"b":"xyz"}'],
    // bytes after the CBOR value are ignored
    ['a0ff', '{}'],
    // keys stay in the order of the bytes, even if they look like numbers
    ['a3613201613101616100', '{"2":1,"1":1,"a":0}'],
  ])('%s is %s', (hex, text) => {
    expect(json(hex)).toBe(text);
  });

  test.each([
    [
      'integers beyond 2^53',
      '821bffffffffffffffff3bffffffffffffffff',
      '["18446744073709551615","-18446744073709551616"]',
    ],
    [
      'bignums',
      '82c249010000000000000000c349010000000000000000',
      '["18446744073709551616","-18446744073709551617"]',
    ],
    ['small bignums', '83c24105c2420005c340', '[5,5,-1]'],
    ['bignums of more than 16 bytes', `c251${'01'.repeat(17)}`, `"${'01'.repeat(17)}"`],
    ['byte strings', '8240425f', null],
    ['byte strings', '82404200ff', '["","00ff"]'],
    ['chunked byte strings', '5f42010243030405ff', '"0102030405"'],
    ['not a number and the infinities', '83f97e00f97c00f9fc00', '[null,null,null]'],
    [
      'floats',
      '85f90001f98000fa3fc00000fb7feffffffffffffff93c00',
      '[5.960464477539063e-8,0,1.5,1.7976931348623157e+308,1]',
    ],
    ['undefined', 'f7', 'null'],
    [
      'tags',
      '82c074323031332d30332d32315432303a30343a30305ac11a514b67b0',
      '["2013-03-21T20:04:00Z",1363896240]',
    ],
    ['other tags', 'd9d9f7d81c81d81d00', '[0]'],
    [
      'keys that are not texts',
      'a501616120616241ff6163f6616482010261 65'.replace(' ', ''),
      '{"1":"a","-1":"b","ff":"c","null":"d","[1,2]":"e"}',
    ],
    ['maps as keys', 'a1a1010101', '{"{\\"1\\":1}":1}'],
    ['repeated keys', 'a2616101616102', '{"a":1,"a":2}'],
    ['simple values in two bytes', '82f814f815', '[false,true]'],
  ])('writes %s (%s)', (_, hex, text) => {
    expect(json(hex)).toBe(text);
  });

  test.each([
    ['nothing', ''],
    ['a break', 'ff'],
    ['a break as a value', 'bf6161ffff'],
    ['a break in a definite array', '8201ff'],
    ['reserved additional information', '1c'],
    ['an integer of indefinite length', '1f'],
    ['a tag of indefinite length', 'df00'],
    ['unknown simple values', 'e0'],
    ['unknown simple values in two bytes', 'f8ff'],
    ['a text that is not UTF-8', '62c328'],
    ['a chunk that is not UTF-8 by itself', '7f61c361a9ff'],
    ['chunks of another type', '7f4161ff'],
    ['chunks within chunks', '7f7f6161ffff'],
    ['a text that is cut', 'a161616e6c6f6e67'],
    ['a huge array', '9bffffffffffffffff'],
    ['a huge text', '7bffffffffffffffff'],
    ['a bignum without bytes', 'c201'],
    ['a negative bignum beyond 128 bits', `c350ff${'00'.repeat(15)}`],
  ])('is null for %s', (_, hex) => {
    expect(json(hex)).toBeNull();
  });

  test('joins the chunks of strings, including empty ones', () => {
    const none = (chunk: string): string => chunk.repeat(100_000);
    expect(json(`5f${none('40')}41614042010240ff`)).toBe('"610102"');
    expect(json(`5f${none('40')}ff`)).toBe('""');
    expect(json(`7f${none('60')}6161606262 6360ff`.replace(' ', ''))).toBe('"abc"');
    for (const hex of ['5f40', '5f4040ff00', '5f4060ff', '5f4043ff', '5f5fffff'])
      expect(json(hex), hex).toBe(hex === '5f4040ff00' ? '""' : null);
  });

  test('reads 256 levels, including tags', () => {
    expect(json(`${'81'.repeat(256)}00`)).toBe(`${'['.repeat(256)}0${']'.repeat(256)}`);
    expect(json(`${'81'.repeat(257)}00`)).toBeNull();
    expect(json(`${'c6'.repeat(256)}00`)).toBe('0');
    expect(json(`${'c6'.repeat(257)}00`)).toBeNull();
    expect(cborToJson(Buffer.alloc(4_000_000, 0x81))).toBeNull();
  });

  test('does not become longer than any metadata', () => {
    const nested = (levels: number): Buffer =>
      Buffer.concat([Buffer.alloc(levels, 0xa1), Buffer.from('6122', 'hex'), Buffer.alloc(levels)]);
    expect(cborToJson(nested(2))).not.toBeNull();
    expect(cborToJson(nested(4))).toContain('\\\\');
    expect(cborToJson(nested(12))).toBeNull();
    expect(cborToJson(nested(100))).toBeNull();
    // floats of three bytes become twenty characters each
    const floats = Buffer.concat([
      Buffer.from('9a00060000', 'hex'),
      Buffer.alloc(3 * 0x60000, Buffer.from('f90001', 'hex')),
    ]);
    expect(cborToJson(floats)).toBeNull();
  });

  test('writes the values that another encoder was given', () => {
    const encoder = new Encoder({ useRecords: false, tagUint8Array: false, variableMapSize: true });
    const value = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        fc.boolean(),
        fc.constant(null),
        fc.double({ noNaN: true, noDefaultInfinity: true }),
        fc.maxSafeInteger(),
        fc.string({ unit: 'binary' }),
        fc.array(tie('value'), { maxLength: 5 }),
        fc.dictionary(fc.string({ unit: 'binary' }), tie('value'), { maxKeys: 5, noNullPrototype: true }),
      ),
    })).value;
    fc.assert(
      fc.property(value, (given) => {
        expect(cborToJson(encoder.encode(given))).toBe(JSON.stringify(given));
      }),
      { numRuns: propertyRuns(500) },
    );
  });

  test('gives a text that is JSON, or null, for any bytes', () => {
    const part = fc.oneof(
      fc.uint8Array({ maxLength: 6 }),
      fc.constantFrom(
        ...['a1', 'a2', '82', 'bf', '9f', 'ff', '6161', '7f', '5f', 'c2', 'fb', 'f9'].map((hex) =>
          Uint8Array.from(Buffer.from(hex, 'hex')),
        ),
      ),
    );
    let texts = 0;
    fc.assert(
      fc.property(fc.array(part, { maxLength: 12 }), (parts) => {
        const text = cborToJson(Buffer.concat(parts));
        if (text === null) return;
        texts++;
        JSON.parse(text);
      }),
      { numRuns: propertyRuns(3000) },
    );
    expect(texts).toBeGreaterThan(120);
  });

  test('reads the metadata of the golden chains', () => {
    const raw = new Set(
      fixtureLines('golden-decode.ndjson.br').flatMap((line) => line.match(/"metadata":"[0-9a-f]*"/gu) ?? []),
    );
    const texts = [...raw].map((match) => json(match.slice('"metadata":"'.length, -1)));
    expect(texts.filter((text) => text === null).length).toBe(13);
    for (const text of texts) expect(JSON.parse(text ?? 'null')).toBeDefined();
  });
});
