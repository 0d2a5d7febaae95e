import { describe, expect, test } from 'vitest';
import { mintBody, mintProblems, runeWords } from '#web/assets/script/order/mint-rune-body.js';

const fields = {
  rune: 'uncommon.goods',
  numberOfMints: ' 10 ',
  receiveAddress: 'bcrt1p2vv0h0lkl5xzyspav3lruhmhmrw5yzry8zkfq3w7j4esjqjj0g9qedh02f',
  refundAddress: '',
  fee: '2.5',
};

describe('mints that a customer fills in', () => {
  test('are the body of an order, without empty fields', () => {
    expect([...mintProblems(fields, 'regtest')]).toEqual([]);
    expect(mintBody(fields)).toEqual({
      rune: 'UNCOMMON•GOODS',
      numberOfMints: 10,
      receiveAddress: fields.receiveAddress,
      fee: '2.5',
    });
  });

  test.each([
    ['rune', { rune: '•A' }, 'Letters from A to Z, with • or . between two of them.'],
    ['numberOfMints', { numberOfMints: '0' }, 'Enter a whole number from 1 to 1,000.'],
    ['numberOfMints', { numberOfMints: '1001' }, 'Enter a whole number from 1 to 1,000.'],
    ['numberOfMints', { numberOfMints: '1.5' }, 'Enter a whole number from 1 to 1,000.'],
  ])('with a fault in %s describe a right value', (field, more, problem) => {
    expect([...mintProblems({ ...fields, ...more }, 'regtest')]).toEqual([[field, problem]]);
  });

  test('say how many are left', () => {
    const entry = {
      spaced_rune: 'A•RUNE',
      divisibility: 0,
      mints: 5,
      terms: { amount: 3, cap: 1_000 },
    };
    expect(runeWords({ mintable: true, entry })).toBe('A•RUNE can be minted: 995 of 1,000 mints are left.');
    expect(runeWords({ mintable: false, entry: { ...entry, mints: 1_000 } })).toBe(
      'All 1,000 mints of A•RUNE are used.',
    );
    expect(runeWords({ mintable: false, entry })).toBe(
      'A•RUNE cannot be minted now: the mint has not begun, or has ended.',
    );
    expect(runeWords({ mintable: false, entry: { ...entry, terms: null } })).toBe(
      'A•RUNE cannot be minted: all units are from the premine.',
    );
  });
});
