import { expect, test } from 'vitest';
import { parseDiscounts, termsInWords, termsOf } from '#accounts/key-terms.ts';
import { usualTerms } from '#kernel/contracts/asking-key.ts';

test('discounts are whole sats or percentages, one for each fee', () => {
  expect(parseDiscounts('rareSatsFee:12.5%, baseFee:500')).toEqual({
    kind: 'read',
    discounts: [
      { parameter: 'baseFee', discount: 500, type: 'fixed' },
      { parameter: 'rareSatsFee', discount: 12.5, type: 'percentage' },
    ],
  });
  for (const text of [
    '',
    'baseFee',
    'baseFee:0',
    'baseFee:1.5',
    'baseFee:100000001',
    'baseFee:0%',
    'baseFee:0.001%',
    'baseFee:100.01%',
    'baseFee:-1',
    'postage:1',
    'toString:1',
    'chainFee:1%',
    'baseFee:1,baseFee:1%',
  ])
    expect(parseDiscounts(text), text).toMatchObject({ kind: 'refused' });
});

test('keys without terms of their own share one object', () => {
  const none = [null, null, null, null, null, null];
  const stored = { baseFee: null, directBaseFee: null, reservedMax: null, discounts: none };
  expect(termsOf(stored)).toBe(usualTerms);
  expect(termsInWords(usualTerms)).toBeNull();
  expect(termsOf({ ...stored, directBaseFee: 0 })).toEqual({ ...usualTerms, directBaseFee: 0 });
});
