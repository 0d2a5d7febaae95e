import { expect, expectTypeOf, test } from 'vitest';
import type { Height } from '#kernel/primitives/height.ts';
import { asInscriptionKey, type InscriptionKey, keysBetween } from '#kernel/primitives/inscription-key.ts';

test('the key of an inscription does not compile from another number or a height', () => {
  expectTypeOf<number>().not.toExtend<InscriptionKey>();
  expectTypeOf<Height>().not.toExtend<InscriptionKey>();
  expectTypeOf(asInscriptionKey(1) + 1).not.toExtend<InscriptionKey>();
});

test('a number that cannot be a key in our tables is refused', () => {
  expect([0, 2 ** 31 - 1].map(asInscriptionKey)).toEqual([0, 2 ** 31 - 1]);
  for (const value of [-1, 0.5, 2 ** 31, Number.NaN])
    expect(() => asInscriptionKey(value)).toThrow('is not the key of an inscription');
});

test('the keys of a range ascend, and an empty or reversed range has none', () => {
  expect(keysBetween(7, 10)).toEqual([7, 8, 9]);
  expect(keysBetween(7, 7)).toEqual([]);
  expect(keysBetween(7, 3)).toEqual([]);
});
