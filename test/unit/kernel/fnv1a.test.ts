import { expect, test } from 'vitest';
import { fnv1a, fnvStart } from '#kernel/fnv1a.ts';

test.each([
  ['a', 0xe40c292c],
  ['foobar', 0xbf9cf968],
])('the hash FNV-1a of %s is that of its authors', (text, hash) => {
  const bytes = Buffer.from(`.${text}.`);
  expect(fnv1a(bytes, 1, bytes.length - 1, fnvStart) >>> 0).toBe(hash);
});
