import { brotliCompressSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { DerivedBudget, propertiesBytesMax, wastedBytesMax } from '#indexer/parse/derived-budget.ts';
import { propertyParts } from '#indexer/parse/properties.ts';
import {
  jsonBytesOf,
  propertiesJson as jsonOfFields,
  propertyFields,
} from '#indexer/parse/property-fields.ts';
import { propertyRuns, sampleStep } from '#test/support/property-runs.ts';
import { blockOf, columnsOf, envelopeScript, readEnvelopes, reveal, tag } from './synthetic-block.ts';

const br = Buffer.from('br');

/** The JSON that ord shows, composed from the stored parts. */
function propertiesJson(...given: Parameters<typeof propertyParts>): string | null {
  const parts = propertyParts(...given);
  if (parts === null) return null;
  const fields = propertyFields(parts);
  const json = jsonOfFields(fields);
  expect(jsonBytesOf(fields)).toBe(Buffer.byteLength(json));
  return json;
}

const shown = (hex: string): string | null => propertiesJson(Buffer.from(hex, 'hex'), null);
const title = (hex: string): string => `a101a100${hex}`;
const trait = (hex: string): string => `a101a101a16161${hex}`;

describe('propertiesJson', () => {
  test('shows titles and traits', () => {
    expect(shown(title('6154'))).toBe('{"gallery":[],"attributes":{"title":"T","traits":{}}}');
    expect(shown(title('62220a'))).toBe('{"gallery":[],"attributes":{"title":"\\"\\n","traits":{}}}');
    expect(shown('a101a101a4616101 6162f5 6163f6 61646178'.replaceAll(' ', ''))).toBe(
      '{"gallery":[],"attributes":{"title":null,"traits":{"a":1,"b":true,"c":null,"d":"x"}}}',
    );
  });

  test('shows integers of 64 bits digit by digit', () => {
    expect(shown(trait('1b7fffffffffffffff'))).toContain('"a":9223372036854775807}');
    expect(shown(trait('3b7fffffffffffffff'))).toContain('"a":-9223372036854775808}');
    expect(shown(trait('1b8000000000000000'))).toBeNull();
    expect(shown(trait('3b8000000000000000'))).toBeNull();
  });

  test('keeps traits in their order, whatever their names look like', () => {
    expect(shown('a101a101a2613201613101')).toContain('"traits":{"2":1,"1":1}');
  });

  test.each([
    ['a float', 'fb3ff8000000000000'],
    ['bytes', '4101'],
    ['an array', '80'],
    ['undefined', 'f7'],
    ['a tag', 'c001'],
    ['a chunked text', '7f6161ff'],
    ['a simple value', 'f815'],
    ['not UTF-8', '61ff'],
  ])('is null for a trait that is %s', (_, hex) => {
    expect(shown(trait(hex))).toBeNull();
  });

  test('skips unknown keys with any value', () => {
    const behind = [
      '05',
      '20',
      '4101',
      '6161',
      '82010a',
      'a10102',
      'c101',
      'f6',
      'fb3ff8000000000000',
      '9f01ff',
      'bf0102ff',
      '5f4101ff',
      '7f6161ff',
      'f8ff',
      '829f9fffff9f01ff',
    ];
    for (const hex of behind) expect(shown(`a205${hex}01a1006154`), hex).toContain('"title":"T"');
    for (const hex of ['61ff', '1c', '7f4101ff', '8201', 'ff', 'df'])
      expect(shown(`a205${hex}01a1006154`), hex).toBeNull();
    expect(
      propertiesJson(Buffer.concat([Buffer.from('a205', 'hex'), Buffer.alloc(3_000_000, 0x81)]), null),
    ).toBeNull();
  });

  test('accepts keys of 64 signed bits', () => {
    expect(shown('a21b7fffffffffffffff0001a1006154')).not.toBeNull();
    expect(shown('a23b7fffffffffffffff0001a1006154')).not.toBeNull();
    expect(shown('a21b80000000000000000001a1006154')).toBeNull();
    expect(shown('a2616b0001a1006154')).toBeNull();
  });

  test('decodes brotli up to 30 to 1', () => {
    const packed = (padding: number): [Buffer, number] => {
      const cbor = Buffer.concat([Buffer.from(title('6154'), 'hex'), Buffer.alloc(padding)]);
      const bytes = brotliCompressSync(cbor);
      return [bytes, cbor.length / bytes.length];
    };
    const last = 2000;
    const border = Array.from({ length: last }).findIndex((_, padding) => packed(padding)[1] > 30);
    for (let padding = 0; padding < last; padding += Math.abs(padding - border) < 20 ? 1 : sampleStep(9)) {
      const [bytes, ratio] = packed(padding);
      expect(propertiesJson(bytes, br) !== null, `${padding} ${ratio}`).toBe(ratio <= 30);
    }
  });

  test('drops a gallery with more items without ids than packed ones can exist', () => {
    const items = Buffer.concat([Buffer.from('a2009f', 'hex'), Buffer.alloc(1_000_000, 0xa0)]);
    const after = (hex: string): string | null =>
      propertiesJson(Buffer.concat([items, Buffer.from(hex, 'hex')]), null);
    expect(after('ff01a1006154')).toBe('{"gallery":[],"attributes":{"title":"T","traits":{}}}');
    expect(after(`ff025820${'ab'.repeat(32)}`)).toBeNull();
    // the rest is still checked, and the second of two galleries is used
    expect(after('a10005ff01a1006154')).toBeNull();
    expect(after(`ff0081a1005820${'ab'.repeat(32)}`)).toContain('"gallery":[{"id":"abab');
  });

  test('packs ids into as many items as there are txids', () => {
    const txids = (count: number): string =>
      `59${(count * 32).toString(16).padStart(4, '0')}${'ab'.repeat(count * 32)}`;
    const gallery = (items: number, count: number): number | null => {
      const text = shown(`a2009f${'a0'.repeat(items)}ff02${txids(count)}`);
      return text === null ? null : (JSON.parse(text) as { gallery: unknown[] }).gallery.length;
    };
    expect(gallery(500, 500)).toBe(500);
    expect(gallery(500, 501)).toBe(500);
    expect(gallery(501, 500)).toBeNull();
  });

  test('reads no more of a block than its budget', () => {
    const cbor = Buffer.from(title('6154'), 'hex');
    const budget = new DerivedBudget();
    budget.takeProperties(propertiesBytesMax - cbor.length);
    expect(propertiesJson(cbor, null, budget)).not.toBeNull();
    expect(propertiesJson(cbor, null, budget)).toBeNull();
    budget.reset();
    expect(propertiesJson(brotliCompressSync(cbor), br, budget)).not.toBeNull();
    expect(budget.takeProperties(propertiesBytesMax - cbor.length)).toBe(true);
    expect(budget.takeProperties(1)).toBe(false);
  });

  test('counts failed and excessive decodings as waste', () => {
    const cbor = Buffer.from(title('6154'), 'hex');
    for (const [bytes, taken] of [
      [Buffer.from('abc'), 0],
      [brotliCompressSync(cbor), propertiesBytesMax],
    ] as const) {
      const budget = new DerivedBudget();
      budget.takeProperties(taken);
      budget.waste(wastedBytesMax - 1);
      expect(propertiesJson(bytes, br, budget)).toBeNull();
      expect(budget.mayWaste).toBe(false);
      budget.takeProperties(-taken);
      expect(propertiesJson(brotliCompressSync(cbor), br, budget)).toBeNull();
    }
  });

  test('reads the copies of a block once, and distinct ones within the budget', () => {
    const encoded = brotliCompressSync(
      Buffer.concat([Buffer.from(title('6154'), 'hex'), Buffer.alloc(2_999_994)]),
    );
    // bytes after the stream are skipped, but they lower its compression ratio
    const script = (padding: number): Buffer => {
      const bytes = Buffer.concat([encoded, Buffer.alloc(100_000 + padding)]);
      const items: (Uint8Array | string)[] = [tag(19), br];
      for (let at = 0; at < bytes.length; at += 60_000) items.push(tag(17), bytes.subarray(at, at + 60_000));
      return envelopeScript(...items);
    };
    const areShown = (scripts: Uint8Array[]): boolean[] =>
      readEnvelopes(columnsOf(blockOf(scripts.map((one) => reveal(one))))).map(
        ({ fields }) => fields.attributes?.toString().includes('"title":"T"') === true,
      );
    const order = Array.from({ length: 25 }, (_, index) => index);
    expect(areShown(order.map(() => script(0)))).toEqual(order.map(() => true));
    const readMax = Math.floor(propertiesBytesMax / 3_000_000);
    expect(areShown(order.map(script))).toEqual(order.map((index) => index < readMax));
    const plain = envelopeScript(tag(17), Buffer.from(title('6154'), 'hex'));
    const other = envelopeScript(tag(17), Buffer.from(title('6154'), 'hex'), tag(19), 'gzip');
    expect(areShown([plain, other, plain])).toEqual([true, false, true]);
  });

  test('accepts one encoding', () => {
    const cbor = Buffer.from(title('6154'), 'hex');
    for (const encoding of ['', 'BR', 'br ', 'gzip']) {
      expect(propertiesJson(brotliCompressSync(cbor), Buffer.from(encoding))).toBeNull();
      expect(propertiesJson(cbor, Buffer.from(encoding))).toBeNull();
    }
  });

  test('gives JSON with both members, or null, for any bytes', () => {
    const part = fc.oneof(
      fc.uint8Array({ maxLength: 4 }),
      fc.constantFrom(
        ...[
          'a100',
          'a101',
          'a0',
          '6154',
          '00',
          '01',
          '02',
          '81',
          '9f',
          'ff',
          'bf',
          '6161',
          `5820${'ab'.repeat(32)}`,
        ].map((hex) => Uint8Array.from(Buffer.from(hex, 'hex'))),
      ),
    );
    const start = fc
      .constantFrom('', 'a101a100', 'a101a101a1', 'a10081a100', 'a20081a002', 'bf01')
      .map((hex) => Buffer.from(hex, 'hex'));
    let texts = 0;
    fc.assert(
      fc.property(start, fc.array(part, { maxLength: 10 }), (first, parts) => {
        const text = propertiesJson(Buffer.concat([first, ...parts]), null);
        if (text === null) return;
        texts++;
        expect(Object.keys(JSON.parse(text) as object)).toEqual(['gallery', 'attributes']);
      }),
      { numRuns: propertyRuns(3000) },
    );
    expect(texts).toBeGreaterThan(12);
  });
});
