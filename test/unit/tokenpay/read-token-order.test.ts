import { expect, test } from 'vitest';
import { readTokenOrder } from '#tokenpay/reading/read-token-order.ts';

const read = (additionalFee: unknown) =>
  readTokenOrder({ token: 'GOODS', amount: '1', additionalFee }, () => null);

test.each([
  ['1000', 1000n],
  ['1000.0', 1000n],
  ['1e3', 1000n],
  ['1.0E7', 10_000_000n],
  ['1.0E+7', 10_000_000n],
  ['10.50e1', 105n],
  ['0', 0n],
  ['0.0', 0n],
  ['0e9', 0n],
  ['999999999999999', 999_999_999_999_999n],
  ['', 0n],
  [null, 0n],
  [undefined, 0n],
])('an additional fee of %j', (given, sats) => {
  expect(read(given)).toMatchObject({ kind: 'read', sent: { additionalFee: sats } });
});

test.each([
  '1,5',
  '1.5',
  '1e-1',
  '1e400',
  '1e15',
  '0x10',
  '1_000',
  ' 1',
  '1 ',
  '+1',
  '-1',
  '-0',
  'NaN',
  '1.',
  true,
  [1],
  {},
])('an additional fee of %j is refused', (given) => {
  expect(read(given)).toEqual({
    kind: 'faulty',
    faults: [{ message: 'additionalFee must be a whole number of at least 0', parameter: 'additionalFee' }],
  });
});

const messagesOf = (body: object): string[] => {
  const read = readTokenOrder(body, () => 'is not reachable');
  return read.kind === 'faulty' ? read.faults.map(({ message }) => message) : [];
};

test('all faults of the form are reported at once', () => {
  const body = { token: 'goods', amount: '1,5', additionalFee: '-1', webhookUrl: 'x', successUrl: 'x' };
  expect(messagesOf(body)).toEqual([
    'token is not the name of a rune (invalid character `g`). Send the name in capitals: GOODS.',
    'amount must be a number in digits.',
    'additionalFee must be a whole number of at least 0',
    'webhookUrl is not reachable',
    'successUrl must be an http or https URL',
  ]);
});

test.each([
  ['1:0', 'This is the id of a rune'],
  ['5', 'A name is capital letters'],
  ['uncommon•goods', 'Send the name in capitals: UNCOMMON•GOODS'],
  ['GOODS ', 'A name is capital letters'],
])('the token %j is refused with the expected form', (token, words) => {
  expect(messagesOf({ token, amount: '1' })).toEqual([expect.stringContaining(words)]);
});
