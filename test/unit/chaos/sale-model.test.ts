import { describe, expect, test } from 'vitest';
import {
  deliveryOf,
  gainOfSale,
  type ModelSale,
  type SaleOutput,
  type SentHalf,
  saleEndFaults,
} from '#test/chaos/tokens/sale-model.ts';

const moth = 'aa';
const sale: ModelSale = {
  id: 'one',
  account: 'creator',
  rune: moth,
  units: 50n,
  sats: 20_000n,
  chargeScript: 'charge',
  tokenScript: 'token',
  isOver: false,
  isCancelAsked: false,
  isCancelled: false,
};
const rune: SaleOutput = {
  outpoint: 'a:2',
  script: 'token',
  sats: 546n,
  runes: new Map([[moth, 50n]]),
  isLate: false,
};
const sats: SaleOutput = {
  outpoint: 'b:2',
  script: 'charge',
  sats: 20_000n,
  runes: new Map(),
  isLate: false,
};
const sentRune: SentHalf = { coin: 'x:0', units: 50n, sats: 0n, isLate: false };
const sentSats: SentHalf = { coin: 'y:0', units: 0n, sats: 20_000n, isLate: false };
const runesOf = (units: bigint, name = moth): SaleOutput => ({ ...rune, runes: new Map([[name, units]]) });

describe('the model of a sale for a rune', () => {
  test.each<[string, Partial<ModelSale>, SaleOutput[], SentHalf[], string]>([
    ['both came', {}, [rune, sats], [sentRune, sentSats], 'due'],
    ['the units came in parts', {}, [runesOf(20n), runesOf(30n), sats], [sentRune, sentSats], 'due'],
    // each additional output costs an input
    [
      'the sats came in parts',
      {},
      [rune, { ...sats, sats: 12_000n }, { ...sats, sats: 9_000n }],
      [sentRune, { ...sentSats, sats: 21_000n }],
      'possible',
    ],
    ['nothing came', {}, [], [], 'impossible'],
    ['the rune alone', {}, [rune], [sentRune], 'impossible'],
    ['the sats alone', {}, [sats], [sentSats], 'impossible'],
    ['a unit too little', {}, [runesOf(49n), sats], [{ ...sentRune, units: 49n }, sentSats], 'impossible'],
    ['another rune', {}, [runesOf(50n, 'bb'), sats], [{ ...sentRune, units: 0n }, sentSats], 'impossible'],
    [
      'the rune at the charge',
      {},
      [{ ...rune, script: 'charge' }, sats],
      [{ ...sentRune, units: 0n }, sentSats],
      'impossible',
    ],
    [
      'the rune too late',
      { isOver: true },
      [{ ...rune, isLate: true }, sats],
      [{ ...sentRune, isLate: true }, sentSats],
      'impossible',
    ],
    ['both before its time was over', { isOver: true }, [rune, sats], [sentRune, sentSats], 'possible'],
    ['a branch had both', {}, [sats], [sentRune, sentSats], 'possible'],
    [
      'two versions of one payment, each too little',
      {},
      [runesOf(30n), sats],
      [{ ...sentRune, units: 30n }, { ...sentRune, units: 30n }, sentSats],
      'impossible',
    ],
    [
      'two payments, together enough',
      {},
      [runesOf(30n), sats],
      [{ ...sentRune, units: 30n }, { ...sentRune, coin: 'z:0', units: 30n }, sentSats],
      'possible',
    ],
    ['its customer asked to cancel', { isCancelAsked: true }, [rune, sats], [sentRune, sentSats], 'possible'],
    [
      'it was cancelled',
      { isCancelAsked: true, isCancelled: true },
      [rune, sats],
      [sentRune, sentSats],
      'impossible',
    ],
  ])('%s', (_, more, outputs, sent, wanted) => {
    expect(deliveryOf({ ...sale, ...more }, outputs, sent)).toBe(wanted);
  });

  test('gives the creator all at the address of the rune, late or not, and nothing of the charge', () => {
    const late = { ...runesOf(7n, 'bb'), outpoint: 'c:1', isLate: true };
    expect(gainOfSale(sale, [sats, rune, late])).toEqual({
      gain: new Map([
        ['BTC', 1_092n],
        [moth, 50n],
        ['bb', 7n],
      ]),
      received: ['a:2 token 546 credited aa:50', 'c:1 token 546 credited bb:7'],
    });
  });

  const received = ['a:2 token 546 credited aa:50'];
  const is = (state: string, isDelivered: boolean, seen = received) => ({
    state,
    isDelivered,
    received: seen,
  });

  test.each([
    ['due', 'completed', true],
    ['possible', 'completed', true],
    ['possible', 'error', true],
    ['possible', 'error', false],
    ['impossible', 'error', false],
  ] as const)('finds nothing in a sale that is %s, %s, delivered %s', (delivery, state, isDelivered) => {
    expect(saleEndFaults(sale, is(state, isDelivered), { delivery, received })).toEqual([]);
  });

  test.each([
    ['due', is('error', false), ['the sale one is not delivered, which is due']],
    ['impossible', is('completed', true), ['the sale one is delivered, which is impossible']],
    ['due', is('error', true), ['the token order of the sale one is error, and not completed']],
    ['possible', is('completed', false), ['the token order of the sale one is completed, and not error']],
    [
      'possible',
      is('pending', true),
      ['the token order of the sale one is pending, and not completed or error'],
    ],
    ['due', is('completed', true, []), [`the sale one does not show ${received[0]}`]],
    [
      'due',
      is('completed', true, [...received, ...received, 'd:0 token 1 credited']),
      [
        'the sale one shows an output twice',
        'the sale one shows d:0 token 1 credited, which the chain has not',
      ],
    ],
  ] as const)('finds what is wrong in a sale that is %s', (delivery, seen, wanted) => {
    expect(saleEndFaults(sale, seen, { delivery, received })).toEqual(wanted);
  });
});
