import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { chooseEncoding, contentTypeHeader } from '#http/content/content-headers.ts';

const bytes = (text: string): Buffer => Buffer.from(text);
const send = (encoding: string | null): object => ({ kind: 'send', encoding });

describe('chooseEncoding', () => {
  test('sends a body without an encoding to every client', () => {
    expect(chooseEncoding(null, undefined)).toEqual(send(null));
  });

  test.each([
    ['br', 'br'],
    ['br', 'gzip, deflate, br;q=0.5'],
    ['br', 'gzip,br'],
    // the weight is ignored, as in ord
    ['br', 'br;q=0'],
    ['identity', 'identity'],
    ['x-odd', 'x-odd'],
  ])('sends %j to clients that accept %j', (encoding, accept) => {
    expect(chooseEncoding(bytes(encoding), accept)).toEqual(send(encoding));
  });

  test.each([
    ['br', undefined],
    ['br', ''],
    ['br', 'identity'],
    ['br', '*'],
    ['br', 'BR'],
    ['BR', 'br'],
    ['br ', 'br '],
    ['é', 'é'],
    ['', undefined],
    ['', ''],
  ])('refuses %j to clients that accept %j', (encoding, accept) => {
    expect(chooseEncoding(bytes(encoding), accept).kind).toBe('refuse');
  });

  test('never sends an encoding that is not UTF-8', () => {
    expect(chooseEncoding(Buffer.from([0xff, 0xfe]), '').kind).toBe('refuse');
    expect(chooseEncoding(Buffer.from([0xff, 0xfe]), undefined).kind).toBe('refuse');
  });

  test.each(['br\r\n', 'a\nb', 'a\0b', 'a\u007fb'])(
    'drops %j, which is not valid in a header',
    (encoding) => {
      expect(chooseEncoding(bytes(encoding), 'identity')).toEqual(send(null));
    },
  );
});

describe('contentTypeHeader', () => {
  test.each(['text/plain;charset=utf-8', '', 'text', 'a/b/c', 'TEXT/PLAIN', '\timage/png '])(
    'keeps %j',
    (type) => {
      expect(contentTypeHeader(bytes(type))).toBe(type);
    },
  );

  test('sends UTF-8 beyond ASCII byte by byte', () => {
    expect(contentTypeHeader(bytes('texte/été'))).toBe('texte/Ã©tÃ©');
  });

  test.each([
    ['no type', null],
    ['a line break', bytes('text/html\r\nset-cookie: a=b')],
    ['a NUL', bytes('text/\0plain')],
    ['no UTF-8', Buffer.from([0x74, 0xff])],
  ])('is application/octet-stream for %s', (_name, type) => {
    expect(contentTypeHeader(type)).toBe('application/octet-stream');
  });

  test('never contains the end of a header', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (type) => {
        expect(contentTypeHeader(type)).toMatch(/^[\t\x20-\x7e\x80-\xff]*$/u);
      }),
    );
  });
});
