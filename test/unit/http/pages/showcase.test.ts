import { expect, test } from 'vitest';
import { chooseShowcase } from '#http/pages/showcase.ts';
import { asInscriptionKey } from '#kernel/primitives/inscription-key.ts';

const candidates = (count: number, typeOf: (index: number) => string | null) =>
  Array.from({ length: count }, (_, index) => ({
    key: asInscriptionKey(count - 1 - index),
    contentId: index % 400,
    contentType: typeOf(index),
  }));

test('the showcase begins with visible contents, newest first, and ends with the very first inscription', () => {
  const newest = candidates(500, (index) => (index % 50 === 49 ? 'image/png' : 'text/plain'));
  const chosen = chooseShowcase(newest);
  const types = chosen.map((key) => newest[499 - key]!.contentType);
  expect(chosen).toHaveLength(15);
  expect(types.slice(0, 5)).toEqual(Array.from({ length: 5 }, () => 'image/png'));
  expect(types.slice(5, 14)).toEqual(Array.from({ length: 9 }, () => 'text/plain'));
  expect(chosen.slice(0, 5)).toEqual([450, 400, 350, 300, 250]);
  expect(chosen.at(-1)).toBe(0);
});

test('the showcase shows no content twice', () => {
  const newest = candidates(30, () => 'text/plain').map((row) => ({ ...row, contentId: row.key % 3 }));
  expect(chooseShowcase(newest)).toEqual([29, 28, 27, 0]);
});

test('the showcase leaves out inscriptions without a content of their own, and may be empty', () => {
  expect(chooseShowcase([{ key: asInscriptionKey(1), contentId: null, contentType: 'image/png' }])).toEqual([
    0,
  ]);
  expect(chooseShowcase([])).toEqual([]);
});
