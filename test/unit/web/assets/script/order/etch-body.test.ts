import { expect, test } from 'vitest';
import {
  canBeAsked,
  type EtchFields,
  etchBody,
  etchProblems,
  hasUnits,
  nameWords,
  termsInWords,
  typedName,
} from '#web/assets/script/order/etch-body.js';

const fields: EtchFields = {
  rune: '',
  symbol: '',
  divisibility: '',
  premine: '',
  amount: '',
  cap: '',
  heightStart: '',
  heightEnd: '',
  offsetStart: '',
  offsetEnd: '',
  receiveAddress: '',
  refundAddress: '',
  fee: '2',
  turbo: false,
};
const problemsOf = (more: Partial<EtchFields>) =>
  Object.fromEntries(etchProblems({ ...fields, ...more }, 'regtest'));

test('a name is accepted as people type it', () => {
  expect(typedName(' satscribe.example ')).toBe('SATSCRIBE•EXAMPLE');
  expect(typedName('two words')).toBe('TWO•WORDS');
  expect([canBeAsked('A•B'), canBeAsked('A••B'), canBeAsked('•A'), canBeAsked('')]).toEqual([
    true,
    false,
    false,
    false,
  ]);
});

test('empty fields are left out, and numbers stay texts', () => {
  expect(etchBody(fields)).toEqual({ fee: '2' });
  expect(
    etchBody({
      ...fields,
      rune: 'a.b',
      symbol: ' 🐉 ',
      divisibility: '2',
      premine: '340282366920938463463374607431768211455',
      amount: '0.5',
      cap: '10',
      heightEnd: '900000',
      offsetStart: '3',
      turbo: true,
      receiveAddress: ' a ',
    }),
  ).toEqual({
    rune: 'A•B',
    symbol: '🐉',
    divisibility: '2',
    premine: '340282366920938463463374607431768211455',
    terms: { amount: '0.5', cap: '10', height: { end: '900000' }, offset: { start: '3' } },
    turbo: true,
    receiveAddress: 'a',
    fee: '2',
  });
});

test('problems are listed by their fields', () => {
  expect(problemsOf({})).toEqual({});
  expect(
    Object.keys(
      problemsOf({
        rune: 'a1',
        symbol: 'ab',
        divisibility: '39',
        premine: '-1',
        amount: '1e3',
        cap: '',
        heightEnd: '1.5',
        fee: 'x',
      }),
    ).toSorted(),
  ).toEqual(['amount', 'cap', 'divisibility', 'fee', 'heightEnd', 'premine', 'rune', 'symbol']);
  expect([hasUnits(fields), hasUnits({ ...fields, premine: '0.1' })]).toEqual([false, true]);
});

test('terms are described in words', () => {
  expect(termsInWords({ ...fields, premine: '1000' })).toEqual([
    'The receiver gets 1,000 at once.',
    'No one else can ever mint it.',
  ]);
  expect(
    termsInWords({ ...fields, amount: '0.5', cap: '2000', heightStart: '900000', offsetEnd: '144' }),
  ).toEqual([
    'Anyone can mint 0.5 at a time, 2,000 times in total.',
    'It can be minted from block 900,000.',
    'Counted from the block of the etching, it can be minted before block number 144.',
  ]);
});

test('the state of a name is described with its meaning', () => {
  const unlock = { height: 17_351, blocksLeft: 17_000 };
  const told = (state: string, pending: readonly unknown[] | null = null): string =>
    nameWords('A•B', { state, unlock, pending });
  expect(told('taken')).toMatch(/^A•B is taken/u);
  expect(told('reserved')).toMatch(/no one can choose it/u);
  expect(told('locked')).toMatch(/until block 17,351, 17,000 blocks from now/u);
  expect(told('free', [{}])).toMatch(/a pending transaction already claims it/u);
  expect(told('free', [])).toBe('A•B is free.');
});
