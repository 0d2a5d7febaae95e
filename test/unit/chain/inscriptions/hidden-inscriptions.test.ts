import { expect, test } from 'vitest';
import { isHiddenBody } from '#chain/inscriptions/hidden-inscriptions.ts';

const id = `${'0A'.repeat(32)}i0`;

// the cases of ord's own test (inscription.rs `hidden`), and cases for the classes of its regular expression
test.each([
  ['', false],
  ['foo', false],
  [`/content/${id}`, true],
  [` /content/${id}\n\t `, true],
  [`\u00a0/content/${id}\u0085\u3000`, true],
  [`/content/${'a'.repeat(64)}i١٢`, true],
  [`\ufeff/content/${id}`, false],
  [`/Content/${id}`, false],
  [`/content/${id}I`, false],
  [`/content/${'a'.repeat(64)}I0`, false],
  [`/content/${id}\u0000`, false],
  [`/content/${id} x`, false],
  [`/content/${id.slice(1)}`, false],
  ['<body style="background:#F61;color:#fff;"><h1 style="height:100%">bvm.network</h1></body>', true],
  ['<body style="background:#F61;color:#fff;"><h1 style="height:100%">bvm.network</h1></body>…', true],
  [' <body style="background:#F61;color:#fff;"><h1 style="height:100%">bvm.network</h1></body>', false],
])('%j is hidden: %s', (body, expected) => {
  expect(isHiddenBody(Buffer.from(body))).toBe(expected);
});

test('what is not UTF-8 is no reference', () => {
  expect(isHiddenBody(Buffer.concat([Buffer.from(`/content/${id}`), Buffer.of(0xff)]))).toBe(false);
});
