import { describe, expect, test } from 'vitest';
import { isSearchableType } from '#kernel/text/searchable.ts';

const searchable = (type: string): boolean => isSearchableType(Buffer.from(type, 'latin1'));

describe('searchable content types', () => {
  test.each([
    'text/plain',
    'text/html;charset=utf-8',
    'Text/HTML; Charset="UTF-8"',
    "text/plain; charset='us-ascii' ; x=y",
    'text/plain;charset=utf8',
    'text/markdown',
    ' text/plain ',
    'application/json',
    'APPLICATION/JSON',
    'application/ld+json',
    'model/gltf+json',
    'application/javascript',
    'application/x-javascript',
    'image/svg+xml',
    'application/xhtml+xml; charset=utf-8',
    'application/yaml',
    'application/pgp-signature',
    'text/x',
  ])('%s is', (type) => {
    expect(searchable(type)).toBe(true);
  });

  test.each([
    '',
    'text/',
    'text',
    'textual/plain',
    'image/png',
    'application/octet-stream',
    'application/pdf',
    'text/plain;charset=utf-16',
    'text/html; charset=iso-8859-1',
    'text/plain;charset=',
    '+json',
    '/x+json',
    'application/+json',
    'application/jsonx',
    '\u00ff\u00fe',
    `text/${'x'.repeat(1000)}`,
  ])('%s is not', (type) => {
    expect(searchable(type)).toBe(false);
  });
});
