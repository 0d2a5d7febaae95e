import { brotliDecompressSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cborToJson } from '#indexer/parse/cbor/cbor-json.ts';
import { ownAsker } from '#kernel/contracts/asker.ts';
import { compressed } from '#orders/reading/compress-content.ts';
import { decodeBase64, readDataUrl } from '#orders/reading/data-url.ts';
import { contentTypeOf, fileExtensions } from '#orders/reading/file-types.ts';
import { metadataCbor } from '#orders/reading/metadata-cbor.ts';
import { propertyRuns } from '#test/support/property-runs.ts';

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
          const read = readDataUrl(isText ? url : new TextEncoder().encode(url));
          expect(read).toMatchObject({ bytes: bytes.length, mediaType: 'image/png' });
          expect(Buffer.from(decodeBase64(read!)!)).toEqual(Buffer.from(bytes));
        },
      ),
      { numRuns: propertyRuns(200) },
    );
  });

  test.each([
    '',
    'data:',
    'data:text/plain,abc',
    'data:text/plain;base64',
    'data:;base64,A',
    'data:;base64,AB=',
    'x',
  ])('is refused: %s', (url) => {
    expect(readDataUrl(url)).toBeNull();
  });

  test('of more bytes than are decoded at once gives all of them, and none with padding before its end', () => {
    const piece = 'AB'.repeat(32_768);
    for (const length of [49_151, 49_152, 49_153, 200_001]) {
      const bytes = Buffer.alloc(length, 'content ');
      const read = readDataUrl(Buffer.from(`data:;base64,${bytes.toString('base64')}`));
      expect(bytes.equals(decodeBase64(read!)!)).toBe(true);
    }
    for (const data of [`${piece.slice(0, -2)}==${piece}`, `${piece}AA==${piece}`]) {
      expect(decodeBase64(readDataUrl(`data:;base64,${data}`)!)).toBeNull();
    }
  });

  test.each(['A B=', 'AB-_', 'ABC\u00e9', 'A===', '=AAA', 'AA=A'])('is not base64: %s', (data) => {
    const read = readDataUrl(`data:;base64,${data}`);
    expect(read === null ? null : decodeBase64(read)).toBeNull();
  });
});

/** JSON as our reader shows it: whole numbers that no double holds are texts. */
function shown(json: string): unknown {
  return JSON.parse(json, (_name, value: unknown, { source = '' }: { source?: string } = {}) => {
    if (typeof value !== 'number' || Number.isSafeInteger(value) || !/^-?\d+$/u.test(source)) return value;
    const whole = BigInt(source);
    return whole >= -(2n ** 63n) && whole < 2n ** 64n ? source : value;
  });
}

describe('metadata', () => {
  test('is read back by our own reader as the JSON that it was', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const json = JSON.stringify(value);
        const cbor = metadataCbor(Buffer.from(json));
        expect(JSON.parse(cborToJson(Buffer.from(cbor!))!)).toEqual(shown(json));
      }),
      { numRuns: propertyRuns(300) },
    );
  });

  test('keeps whole numbers that no double holds', () => {
    const json = '{"a":18446744073709551615,"b":-9223372036854775808,"c":9007199254740993}';
    expect(cborToJson(Buffer.from(metadataCbor(Buffer.from(json))!))).toBe(
      '{"a":"18446744073709551615","b":"-9223372036854775808","c":"9007199254740993"}',
    );
  });

  test('is refused where it is no JSON, or not UTF-8', () => {
    expect(metadataCbor(Buffer.from('{"a":}'))).toBeNull();
    expect(metadataCbor(Buffer.from([0x22, 0xff, 0x22]))).toBeNull();
  });
});

test('25 extensions are taken, in either case, and no others', () => {
  const extensions = fileExtensions.split(', ');
  expect(extensions).toHaveLength(25);
  for (const extension of extensions) {
    expect(contentTypeOf(`a.b.${extension.toUpperCase()}`)).toBe(contentTypeOf(`x.${extension}`));
    expect(contentTypeOf(`x.${extension}`)).not.toBeNull();
  }
  for (const name of ['a.bin', 'a.svg+xml', 'a.', '', 'a.txt ']) expect(contentTypeOf(name)).toBeNull();
});

const asker = ownAsker('a client');

test('brotli is used where it is shorter, and not for media', async () => {
  const content = Buffer.from('satscribe '.repeat(500));
  const made = await compressed(content, 'text/plain;charset=utf-8', asker);
  expect(brotliDecompressSync(made!)).toEqual(content);
  expect(await compressed(content, 'text/plain;charset=utf-8', asker)).toEqual(made);
  expect(await compressed(content, 'image/png', asker)).toBeNull();
  expect(await compressed(content, 'image/svg+xml', asker)).not.toBeNull();
  expect(await compressed(Uint8Array.of(1, 2, 3), 'text/plain', asker)).toBeNull();
});

test('one client is compressed for beside another, and nothing for who has left', async () => {
  const content = Buffer.from(Array.from({ length: 500 }, (_, index) => `${index} satscribe`).join(' '));
  const controller = new AbortController();
  const many = ownAsker('many', controller.signal);
  const order: string[] = [];
  const done = (name: string) => (): void => {
    order.push(name);
  };
  const ofMany = Array.from({ length: 10 }, () => compressed(content, 'text/plain', many).then(done('many')));
  const left = Promise.allSettled(ofMany);
  // another client comes last, and is served next
  await compressed(Buffer.from('satscribe '.repeat(50)), 'text/plain', asker).then(done('other'));
  expect(order.indexOf('other')).toBeLessThanOrEqual(1);
  controller.abort(new Error('left'));
  const ends = await left;
  expect(ends.filter(({ status }) => status === 'rejected').length).toBeGreaterThanOrEqual(7);
});
