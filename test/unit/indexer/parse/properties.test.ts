import { brotliCompressSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { propertiesJson } from '#indexer/parse/properties.ts';
import { fuzzRuns } from './fuzz-runs.ts';

const br = Buffer.from('br');
const shown = (hex: string): string | null => propertiesJson(Buffer.from(hex, 'hex'), null);
const title = (hex: string): string => `a101a100${hex}`;
const trait = (hex: string): string => `a101a101a16161${hex}`;

describe('propertiesJson', () => {
  it('shows titles and traits', () => {
    expect(shown(title('6154'))).toBe('{"gallery":[],"attributes":{"title":"T","traits":{}}}');
    expect(shown(title('62220a'))).toBe('{"gallery":[],"attributes":{"title":"\\"\\n","traits":{}}}');
    expect(shown('a101a101a4616101 6162f5 6163f6 61646178'.replaceAll(' ', ''))).toBe(
      '{"gallery":[],"attributes":{"title":null,"traits":{"a":1,"b":true,"c":null,"d":"x"}}}',
    );
  });

  it('shows integers of 64 bits digit by digit', () => {
    expect(shown(trait('1b7fffffffffffffff'))).toContain('"a":9223372036854775807}');
    expect(shown(trait('3b7fffffffffffffff'))).toContain('"a":-9223372036854775808}');
    expect(shown(trait('1b8000000000000000'))).toBeNull();
    expect(shown(trait('3b8000000000000000'))).toBeNull();
  });

  it('keeps traits in their order, whatever their names look like', () => {
    expect(shown('a101a101a2613201613101')).toContain('"traits":{"2":1,"1":1}');
  });

  it.each([
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

  it('passes over keys that it does not know, whatever is behind them', () => {
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

  it('takes keys of 64 signed bits', () => {
    expect(shown('a21b7fffffffffffffff0001a1006154')).not.toBeNull();
    expect(shown('a23b7fffffffffffffff0001a1006154')).not.toBeNull();
    expect(shown('a21b80000000000000000001a1006154')).toBeNull();
    expect(shown('a2616b0001a1006154')).toBeNull();
  });

  it('decodes brotli up to 30 to 1', () => {
    const packed = (padding: number): [Buffer, number] => {
      const cbor = Buffer.concat([Buffer.from(title('6154'), 'hex'), Buffer.alloc(padding)]);
      const bytes = brotliCompressSync(cbor);
      return [bytes, cbor.length / bytes.length];
    };
    for (let padding = 0; padding < 2000; padding++) {
      const [bytes, ratio] = packed(padding);
      expect(propertiesJson(bytes, br) !== null, `${padding} ${ratio}`).toBe(ratio <= 30);
    }
  });

  it('knows one encoding', () => {
    const cbor = Buffer.from(title('6154'), 'hex');
    for (const encoding of ['', 'BR', 'br ', 'gzip']) {
      expect(propertiesJson(brotliCompressSync(cbor), Buffer.from(encoding))).toBeNull();
      expect(propertiesJson(cbor, Buffer.from(encoding))).toBeNull();
    }
  });

  it('gives JSON with both members, or null, for any bytes', () => {
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
      { numRuns: fuzzRuns(30_000) },
    );
    expect(texts).toBeGreaterThan(100);
  });
});
