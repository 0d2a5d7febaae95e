import { brotliDecompressSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cborToJson } from '#indexer/parse/cbor/cbor-json.ts';
import { atOnce } from '#kernel/concurrency/work-in-steps.ts';
import { ownAsker } from '#kernel/contracts/asker.ts';
import { contentTypeOf, fileExtensions } from '#kernel/requests/file-types.ts';
import type { RequestText } from '#kernel/requests/request-values.ts';
import { compressed } from '#orders/reading/compress-content.ts';
import * as dataUrls from '#orders/reading/data-url.ts';
import { metadataCbor } from '#orders/reading/metadata-cbor.ts';
import { propertyRuns } from '#test/support/property-runs.ts';

type DataContent = dataUrls.DataContent;
const readDataUrl = (url: RequestText): dataUrls.ReadDataUrl => atOnce(dataUrls.readDataUrl(url));
const contentOf = (content: DataContent): Uint8Array => atOnce(dataUrls.contentOf(content));

/** Reads a data URL. Returns its content as text, or the reason for its refusal. */
function read(url: string): { readonly text: string } | { readonly reason: string } {
  const found = readDataUrl(url);
  return found.kind === 'content'
    ? { text: Buffer.from(contentOf(found)).toString() }
    : { reason: found.reason };
}

/** Inserts blanks and line breaks into a text. Positions are shares of the text's length. */
function broken(text: string, breaks: readonly (readonly [number, string])[]): string {
  let made = text;
  for (const [share, mark] of breaks) {
    const place = Math.floor(share * (made.length + 1));
    made = made.slice(0, place) + mark + made.slice(place);
  }
  return made;
}

const shares = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
const lineBreaks = fc.array(fc.tuple(shares, fc.constantFrom('\r\n', '\n', '\t')), { maxLength: 5 });

describe('a data URL', () => {
  test('gives its bytes, their number without decoding, and its media type, as text and as bytes', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 600 }),
        fc.boolean(),
        fc.boolean(),
        (bytes, isText, isPadded) => {
          const data = Buffer.from(bytes).toString('base64');
          const url = `data:image/png;base64,${isPadded ? data : data.replace(/=+$/u, '')}`;
          const found = readDataUrl(isText ? url : new TextEncoder().encode(url));
          expect(found).toMatchObject({ kind: 'content', bytes: bytes.length, mediaType: 'image/png' });
          expect(Buffer.from(contentOf(found as DataContent))).toEqual(Buffer.from(bytes));
        },
      ),
      { numRuns: propertyRuns(200) },
    );
  });

  test('in base64 of any library gives the same bytes: either alphabet, padded or not, with line breaks, escaped', () => {
    const heads = fc.constantFrom(
      'data:;base64,',
      'DATA:text/plain;charset=utf-8;BASE64,',
      'data:text/plain;name=a.txt; base64,',
      'data:text/plain;name="a,b;base64,\\"c.txt";base64,',
      '\n data:plain/text;base64,',
    );
    const forms = fc.record({
      isUrlSafe: fc.boolean(),
      isPadded: fc.boolean(),
      isEscaped: fc.boolean(),
      breaks: lineBreaks,
    });
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), heads, forms, (bytes, head, form) => {
        const { isUrlSafe, isPadded, isEscaped, breaks } = form;
        const whole = Buffer.from(bytes)
          .toString(isUrlSafe ? 'base64url' : 'base64')
          .replace(/=+$/u, '');
        const padded = isPadded ? whole.padEnd(Math.ceil(whole.length / 4) * 4, '=') : whole;
        const data = isEscaped ? padded.replaceAll(/[+/=]/gu, encodeURIComponent) : padded;
        // a break inside an escape is not allowed in base64
        const url = head + (isEscaped ? data : broken(data, breaks));
        const found = readDataUrl(url);
        expect(found.kind).toBe('content');
        expect(Buffer.from(contentOf(found as DataContent))).toEqual(Buffer.from(bytes));
      }),
      { numRuns: propertyRuns(300) },
    );
  });

  test('is read as a browser reads it, or refused', async () => {
    const parts = fc.constantFrom(
      'A',
      'b/',
      '+',
      '-',
      '_',
      '=',
      ' ',
      '\n',
      '%',
      '%3D',
      '%2B',
      '@',
      '#',
      'ü',
      '%0A',
    );
    const urls = fc
      .tuple(fc.constantFrom('data:,', 'data:text/plain;base64,'), fc.array(parts, { maxLength: 12 }))
      .map(([head, data]) => head + data.join(''));
    await fc.assert(
      fc.asyncProperty(urls, async (url) => {
        const found = readDataUrl(url);
        if (found.kind === 'refused') return;
        const bytes = Buffer.from(contentOf(found));
        expect(found.bytes).toBe(bytes.length);
        // browsers know only one alphabet of base64
        const known = url.includes(';base64,') ? url.replaceAll('-', '+').replaceAll('_', '/') : url;
        const seen = await fetch(known);
        expect(Buffer.from(await seen.arrayBuffer())).toEqual(bytes);
      }),
      { numRuns: propertyRuns(400) },
    );
  });

  test('that is percent-encoded gives its bytes', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.boolean(), (text, isLower) => {
        const encoded = encodeURIComponent(text);
        const url = `data:text/plain;charset=utf-8,${isLower ? encoded.toLowerCase() : encoded}`;
        if (isLower && text !== text.toLowerCase()) return;
        expect(read(url)).toEqual({ text });
      }),
      { numRuns: propertyRuns(200) },
    );
    expect(read('data:image/svg+xml,%3Csvg%20fill="%23f00"/%3E')).toEqual({ text: '<svg fill="#f00"/>' });
    expect(read('data:,a+b ü')).toEqual({ text: 'a+b ü' });
    expect(read('data:,')).toEqual({ text: '' });
  });

  test.each([
    ['line breaks', 'data:text/plain;base64,aGVs\r\nbG8=', 'hello'],
    ['no padding', 'data:text/plain;base64,aGVsbG8', 'hello'],
    ['escaped padding', 'data:text/plain;base64,aGVsbG8%3D', 'hello'],
    ['the other alphabet', 'data:text/plain;base64,Pz8_Pj4-', '???>>>'],
    ['blanks that cannot be signs', 'data:text/plain;base64,aGVs bG8=', 'hello'],
    ['a blank after its padding', 'data:text/plain;base64,aGVsbG8= ', 'hello'],
    ['a quoted name with a comma', 'data:text/plain;name="a,b.txt";base64,aGVsbG8=', 'hello'],
    ['a quoted name with our mark', 'data:text/plain;name=";base64,",hello', 'hello'],
    ['no type', 'data:;base64,aGVsbG8=', 'hello'],
  ])('with %s is taken', (_name, url, text) => {
    expect(read(url)).toEqual({ text });
  });

  test.each([
    ['data:,a', 'text/plain;charset=US-ASCII'],
    ['data:;charset=utf-8,a', 'text/plain;charset=utf-8'],
    ['data:;charset=utf-8;base64,YQ==', 'text/plain;charset=utf-8'],
    ['data:text/html;base64,YQ==', 'text/html'],
  ])('%s is of the type %s', (url, mediaType) => {
    expect(readDataUrl(url)).toMatchObject({ mediaType });
  });

  const shape = 'must have the form data:<media type>;base64,<data>';
  test.each([
    ['', shape],
    ['data:', shape],
    ['data:text/plain;base64', shape],
    ['x', shape],
    ['data:base64,aGk=', shape],
    ['data:text/plain;name="a,aGk=', shape],
    ['data:text/plain;name="a"b,aGk=', shape],
    [`data:${'a'.repeat(600)},x`, shape],
    ['data:text/plain;base64;charset=utf-8,aGk=', 'must have ;base64 directly before its comma'],
    ['data:text/pl\0ain;base64,aGk=', 'has a control character before its comma'],
    ['data:;base64,A', 'is not base64, because 1 characters do not encode complete bytes'],
    ['data:;base64,AB=', 'is not base64, because 2 characters and 1 padding ch'],
    ['data:;base64,A===', 'is not base64, because 1 characters and 3 padding ch'],
    ['data:;base64,=AAA', 'is not base64, because it continues after its padding'],
    ['data:;base64,@@@@', 'is not base64, because "@" is not one of its characters'],
    ['data:;base64,ABC\u00e9', 'is not base64, because a character that is not ASCII'],
    ['data:;base64,AB%', 'is not base64, because it has a percent sign'],
    ['data:;base64,AB%00', String.raw`is not base64, because "\u0000"`],
    ['data:;base64,a+b-', 'is not clearly base64, because it has characters of two alphabets'],
    // the blanks were plus signs, which an HTML form turned into blanks
    ['data:;base64,  /v7 ', 'is not clearly base64, because its spaces may have been plus signs'],
    ['data:;base64,A B=', 'is not base64, because 2 characters and 1 padding ch'],
    ['data:,100%', 'has a percent sign without two hex digits after it'],
    ['data:,a#b', 'has a #'],
    ['data:,a\nb', 'has a line break'],
    ['data:,a\0b', 'has a line break or another control character'],
    ['data:,a ', 'ends with a space'],
    ['data:,\ud800', 'is not valid Unicode'],
    ['data:image/png,iVBORw0KGgoAAAANSUhEUg==', 'looks like base64, but does not say so'],
  ])('is refused: %j', (url, words) => {
    const found = readDataUrl(url);
    expect(found.kind === 'refused' && found.reason.slice(0, words.length)).toBe(words);
  });

  test('with more bytes than one step gives all of them, and is refused with padding before its end', () => {
    const piece = 'AB'.repeat(32_768);
    for (const length of [49_151, 49_152, 49_153, 200_001]) {
      const bytes = Buffer.alloc(length, 'content ');
      const data = bytes.toString('base64');
      for (const written of [data, data.replaceAll(/.{76}/gu, '$&\r\n')]) {
        const found = readDataUrl(Buffer.from(`data:;base64,${written}`));
        expect(bytes.equals(contentOf(found as DataContent))).toBe(true);
      }
    }
    for (const data of [`${piece.slice(0, -2)}==${piece}`, `${piece}AA==${piece}`]) {
      expect(readDataUrl(`data:;base64,${data}`).kind).toBe('refused');
    }
  });
});

/** Parses JSON like our reader: integers that no double holds exactly become texts. */
function shown(json: string): unknown {
  return JSON.parse(json, (_name, value: unknown, { source = '' }: { source?: string } = {}) => {
    if (typeof value !== 'number' || Number.isSafeInteger(value) || !/^-?\d+$/u.test(source)) return value;
    const whole = BigInt(source);
    return whole >= -(2n ** 63n) && whole < 2n ** 64n ? source : value;
  });
}

/** Converts JSON to CBOR. Returns the reasons if the JSON is refused. */
function cbor(json: string | Uint8Array): Buffer | readonly string[] {
  const made = metadataCbor(typeof json === 'string' ? Buffer.from(json) : json);
  return made.kind === 'cbor' ? Buffer.from(made.cbor) : made.reasons;
}

describe('metadata', () => {
  test('is read back by our own reader as the same JSON', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const json = JSON.stringify(value);
        const made = cbor(json);
        if (!Buffer.isBuffer(made)) {
          // numbers that JSON.stringify writes are accepted, except integers beyond 64 bits
          expect(made.every((reason) => /NUL|Unicode|number/u.test(reason))).toBe(true);
          expect(json).toMatch(/\\u0000|\\ud[89a-f]|\d{17}/u);
        } else expect(JSON.parse(cborToJson(made)!)).toEqual(shown(json));
      }),
      { numRuns: propertyRuns(300) },
    );
  });

  test('keeps whole numbers that no double holds', () => {
    const json = '{"a":18446744073709551615,"b":-9223372036854775808,"c":9007199254740993}';
    expect(cborToJson(cbor(json) as Buffer)).toBe(
      '{"a":"18446744073709551615","b":"-9223372036854775808","c":"9007199254740993"}',
    );
  });

  test('keeps names that every object has', () => {
    expect(cborToJson(cbor('{"__proto__":{"constructor":1}}') as Buffer)).toBe(
      '{"__proto__":{"constructor":1}}',
    );
  });

  test('is refused if it is not JSON, or not UTF-8', () => {
    expect(cbor('{"a":}')).toEqual(['is not JSON in UTF-8']);
    expect(cbor(Uint8Array.of(0x22, 0xff, 0x22))).toEqual(['is not JSON in UTF-8']);
  });

  const held = 'has metadata that cannot be kept:';
  const number = 'is a number that cannot be kept exactly; send it as a text';
  test.each([
    ['{"attributes":[{"value":1e400}]}', `${held} attributes[0].value ${number}`],
    ['18446744073709551616', `${held} its value ${number}`],
    ['-9223372036854775809', `${held} its value ${number}`],
    ['[9007199254740993.5]', `${held} [0] ${number}`],
    [String.raw`{"a":"\ud800"}`, `${held} a is not valid Unicode`],
    [String.raw`{"\udc00":1}`, `${held} the name of a field of its value is not valid Unicode`],
    [String.raw`{"a":{"b\u0000":1}}`, `${held} the name of a field of a has a NUL character (U+0000)`],
    [`${'['.repeat(257)}${']'.repeat(257)}`, `${held} its value is nested deeper than 256 levels`],
  ])('is refused if its readers would change it: %s', (json, reason) => {
    expect(cbor(json)).toEqual([reason]);
  });

  test('is accepted up to the depth that ord reads', () => {
    const deep = `${'['.repeat(256)}${']'.repeat(256)}`;
    expect(cborToJson(cbor(deep) as Buffer)).toBe(deep);
  });
});

test('25 extensions are accepted, in either case, and no others', () => {
  const extensions = fileExtensions.split(', ');
  expect(extensions).toHaveLength(25);
  for (const extension of extensions) {
    expect(contentTypeOf(`a.b.${extension.toUpperCase()}`)).toBe(contentTypeOf(`x.${extension}`));
    expect(contentTypeOf(`x.${extension}`)).not.toBeNull();
  }
  for (const name of ['a.bin', 'a.svg+xml', 'a.', '', 'a.txt ']) expect(contentTypeOf(name)).toBeNull();
});

const asker = ownAsker('a client');

test('brotli is used if it is shorter, and not for media', async () => {
  const content = Buffer.from('satscribe '.repeat(500));
  const made = await compressed(content, 'text/plain;charset=utf-8', asker);
  expect(brotliDecompressSync(made!)).toEqual(content);
  expect(await compressed(content, 'text/plain;charset=utf-8', asker)).toEqual(made);
  expect(await compressed(content, 'image/png', asker)).toBeNull();
  expect(await compressed(content, 'image/svg+xml', asker)).not.toBeNull();
  expect(await compressed(Uint8Array.of(1, 2, 3), 'text/plain', asker)).toBeNull();
});

test('clients are compressed for in turn, and nothing for one that has left', async () => {
  const content = Buffer.from(Array.from({ length: 500 }, (_, index) => `${index} satscribe`).join(' '));
  const controller = new AbortController();
  const many = ownAsker('many', controller.signal);
  const order: string[] = [];
  const done = (name: string) => (): void => {
    order.push(name);
  };
  const ofMany = Array.from({ length: 10 }, () => compressed(content, 'text/plain', many).then(done('many')));
  const left = Promise.allSettled(ofMany);
  // another client comes last, but is served after the current request
  await compressed(Buffer.from('satscribe '.repeat(50)), 'text/plain', asker).then(done('other'));
  expect(order.indexOf('other')).toBeLessThanOrEqual(1);
  controller.abort(new Error('left'));
  const ends = await left;
  expect(ends.filter(({ status }) => status === 'rejected').length).toBeGreaterThanOrEqual(7);
});
