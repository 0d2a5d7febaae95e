import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { RequestValues } from '#kernel/requests/request-values.ts';
import { parseRune } from '#kernel/runes/rune.ts';
import { decipher } from '#kernel/runes/runestone/decipher.ts';
import { encipher } from '#kernel/runes/runestone/encipher.ts';
import { readEtching } from '#orders/reading/read-etching.ts';
import { propertyRuns } from '#test/support/property-runs.ts';

const read = (order: Readonly<Record<string, unknown>>) => {
  const values = new RequestValues();
  const etching = readEtching(values, order);
  return { etching, faults: values.faults.map(({ message }) => message) };
};

const order = {
  rune: 'SATSCRIBE•DEMO•RUNE',
  supply: '1000.5',
  premine: 0.5,
  divisibility: 2,
  symbol: '🜚',
  turbo: true,
  terms: {
    amount: 10,
    cap: '100',
    height: { start: 900_000, end: 950_000 },
    offset: { start: null, end: 1000 },
  },
};

test('reads the fields of the interface, amounts in units of the rune', () => {
  expect(read(order)).toEqual({
    faults: [],
    etching: {
      rune: parseRune('SATSCRIBEDEMORUNE'),
      spacers: (1 << 8) | (1 << 12),
      divisibility: 2,
      symbol: 0x1f71a,
      premine: 50,
      turbo: true,
      terms: {
        amount: 1000,
        cap: 100,
        heightStart: 900_000,
        heightEnd: 950_000,
        offsetStart: null,
        offsetEnd: 1000,
      },
    },
  });
});

test('an etching without a name, and with empty terms', () => {
  const { etching, faults } = read({ premine: '1', terms: { height: { start: null, end: '' }, cap: null } });
  expect(faults).toEqual([]);
  expect(etching).toEqual({
    rune: null,
    spacers: null,
    divisibility: null,
    symbol: null,
    premine: 1,
    terms: null,
    turbo: false,
  });
});

const most = (2n ** 128n - 1n).toString();
test.each<[string, object]>([
  ['rune is not a name (invalid character `s`)', { rune: 'satscribe' }],
  ['rune is not a name (leading spacer)', { rune: '•SATSCRIBE' }],
  ['rune is not a name (trailing spacer)', { rune: 'SATSCRIBE.' }],
  ['rune is not a name (double spacer)', { rune: 'SAT••SCRIBE' }],
  ['rune is not a name (name out of range)', { rune: 'A'.repeat(29) }],
  ['rune is a reserved name', { rune: 'AAAAAAAAAAAAAAAAAAAAAAAAAAA' }],
  ['rune must be a text', { rune: 5 }],
  ['divisibility must be from 0 to 38', { divisibility: 39 }],
  ['divisibility must be a whole number of at least 0', { divisibility: -1 }],
  ['symbol must be one character', { symbol: 'ab' }],
  ['symbol must be one character', { symbol: '\ud800' }],
  ['symbol must be one character', { symbol: 7 }],
  ['premine has more than 2 decimals, the maximum of this token', { premine: '0.001' }],
  ['premine must be above 0', { premine: -1 }],
  ['premine must be a number, or a text of digits', { premine: [] }],
  [
    'premine is above 2^53 - 1, and larger JSON numbers are not exact; send it as a text',
    { premine: 2 ** 53 },
  ],
  ['premine is above 2^128 - 1 base units', { premine: most }],
  ['terms must be an object', { terms: 5 }],
  ['terms.cap is required.', { terms: { amount: 1 } }],
  ['terms.amount is required.', { terms: { cap: 1 } }],
  ['terms.cap must be above 0', { terms: { amount: 1, cap: 0 } }],
  ['terms.amount must be above 0', { terms: { amount: '0.00', cap: 1 } }],
  ['terms.cap must be a whole number of at least 0', { terms: { amount: 1, cap: 1.5 } }],
  ['terms.height must be an object', { terms: { ...order.terms, height: 5 } }],
  [
    'terms.height.start is above 2^64 - 1',
    { terms: { ...order.terms, height: { start: String(2n ** 64n) } } },
  ],
  [
    'terms.height.end must be above terms.height.start',
    { terms: { ...order.terms, height: { start: 5, end: 5 } } },
  ],
  [
    'terms.offset.end must be above terms.offset.start',
    { terms: { ...order.terms, offset: { start: 5, end: 4 } } },
  ],
  ['supply must be premine + cap × amount, which is 1000.5', { supply: 1000 }],
  ['supply must be premine + cap × amount, which is 1000.5', { supply: 0 }],
  ['supply must be premine + cap × amount, which is 0.5', { terms: null }],
  ['An etching needs a premine, or terms', { premine: null, terms: null, supply: null }],
  [
    'premine + cap × amount is above 2^128 - 1 base units',
    { supply: null, divisibility: 0, premine: 1, terms: { amount: 1, cap: most } },
  ],
])('refuses: %s', (message, more) => {
  const { faults } = read({ ...order, ...more });
  expect(faults.map((fault) => fault.slice(0, message.length))).toEqual([message]);
});

describe('any body', () => {
  const anything = fc.oneof(
    fc.anything(),
    fc.constantFrom('1', '0.5', '5e3', 'A•B', 'AAAAAAAAAAAAA', '🜚', '\0', 2 ** 53, -0, 1e-7, most),
  );
  const window = fc.record({ start: anything, end: anything }, { requiredKeys: [] });
  const terms = fc.record(
    { amount: anything, cap: anything, height: window, offset: window },
    { requiredKeys: [] },
  );
  const names = ['rune', 'supply', 'premine', 'divisibility', 'symbol', 'turbo'] as const;
  const body = fc.record(
    { ...Object.fromEntries(names.map((name) => [name, anything])), terms: fc.oneof(terms, anything) },
    { requiredKeys: [] },
  );

  test('gives faults that name their fields, or an etching whose runestone is no cenotaph', () => {
    fc.assert(
      fc.property(body, (given) => {
        const values = new RequestValues();
        const etching = readEtching(values, given);
        if (values.faults.length > 0) {
          for (const { parameter } of values.faults)
            expect(parameter).toMatch(/^(?:rune|supply|premine|divisibility|symbol|turbo|terms(?:\.|$))/u);
          return;
        }
        const script = encipher({ kind: 'runestone', edicts: [], etching, mint: null, pointer: null });
        expect(decipher(script, 0, script.length, 1)).toMatchObject({ kind: 'runestone', etching });
      }),
      { numRuns: propertyRuns(500) },
    );
  });
});

test('missing parts of an etching are named beside faults of other fields', () => {
  const values = new RequestValues();
  values.required(undefined, 'receiveAddress');
  readEtching(values, {});
  expect(values.faults.map(({ message }) => message)).toEqual([
    expect.stringContaining('receiveAddress') as string,
    'An etching needs a premine, or terms for mints.',
  ]);
});
