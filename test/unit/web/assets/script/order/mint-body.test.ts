import { expect, test } from 'vitest';
import { countdownWords } from '#web/assets/script/order/countdown.js';
import {
  allocationWords,
  type MintFields,
  mintBody,
  mintProblems,
} from '#web/assets/script/order/mint-body.js';

const fields: MintFields = {
  count: '2',
  requestedIds: '',
  receiveAddress: ' bcrt1pabc ',
  refundAddress: '',
  fee: '3.5',
  uncurse: false,
};

test('the body has a count of items, or their numbers', () => {
  expect(mintBody('moths', fields)).toEqual({
    collection: { id: 'moths', count: 2 },
    receiveAddress: 'bcrt1pabc',
    fee: '3.5',
  });
  expect(mintBody('moths', { ...fields, requestedIds: '#3, 7', uncurse: true })).toMatchObject({
    collection: { id: 'moths', requestedIds: [3, 7] },
    uncurseIt: true,
  });
});

test.each([
  ['count', { count: '0' }],
  ['count', { count: '1001' }],
  ['count', { count: '1.5' }],
  ['requestedIds', { requestedIds: '3, x' }],
  ['requestedIds', { requestedIds: '3 3' }],
  ['requestedIds', { requestedIds: '0' }],
  ['fee', { fee: 'fast' }],
  ['receiveAddress', { receiveAddress: 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq' }],
  ['refundAddress', { refundAddress: 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq' }],
])('%s is found before the service is asked', (name, given) => {
  expect([...mintProblems({ ...fields, ...given }, 'regtest').keys()]).toEqual([name]);
});

test('named items need no count', () => {
  expect(mintProblems({ ...fields, count: '', requestedIds: '5' }, 'regtest').size).toBe(0);
});

test('an allocation is a sentence', () => {
  const of = (given: object) =>
    allocationWords({ phaseId: 'friends', public: 0, allocation: 2, paidItemCount: 0, ...given });
  expect(of({})).toBe('friends: on the list, for 2 items.');
  expect(of({ paidItemCount: 1 })).toBe('friends: on the list, for 2 items. 1 of them is paid.');
  expect(of({ allocation: -1 })).toMatch(/all items of the phase/u);
  expect(of({ allocation: 0 })).toMatch(/not on the list/u);
  expect(of({ public: 1, allocation: -1 })).toBe('friends: anyone may mint.');
});

test.each([
  [0, ''],
  [-1, ''],
  [1, 'in 1 s'],
  [59_001, 'in 1 min 0 s'],
  [3_599_500, 'in 1 h 0 min'],
  [2 * 3_600_000 + 61_000, 'in 2 h 1 min'],
  [86_400_000, 'in 1 day'],
  [2 * 86_400_000 + 3 * 3_600_000, 'in 2 days 3 h'],
])('%i ms are "%s"', (ms, words) => {
  expect(countdownWords(ms)).toBe(words);
});
