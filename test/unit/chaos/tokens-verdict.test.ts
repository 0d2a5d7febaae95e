import { describe, expect, test } from 'vitest';
import {
  endOfOrder,
  type ModelOrder,
  type OrderEnd,
  type PaidOutput,
} from '#test/chaos/tokens/order-model.ts';
import { noRunes, type RuneState } from '#test/chaos/tokens/rune-model.ts';
import {
  balanceFaults,
  chainFaults,
  endFaults,
  heldFaults,
  ledgerFaults,
  type SeenCredit,
  type TokenLook,
  type ToldOrder,
  toldFaults,
} from '#test/chaos/tokens/tokens-verdict.ts';

const dog = 'aa';
const cat = 'bb';
const credit: SeenCredit = {
  outpoint: 'one:2',
  order: 'a',
  account: 'shop',
  sats: 546n,
  runes: new Map([[dog, 40n]]),
  isAside: false,
  isStale: false,
};
const fee: SeenCredit = { ...credit, outpoint: 'one:3', sats: 10_000n, runes: new Map() };
const aside: SeenCredit = { ...credit, outpoint: 'two:0', runes: new Map([[dog, 3n]]), isAside: true };

/** 40 units are credited, 3 are set aside, 2 wait, and a stranger has 55. */
const sound: TokenLook = {
  isAtOneBlock: true,
  balances: new Map([
    [`shop ${dog}`, 40n],
    ['shop BTC', 1_546n],
  ]),
  fees: 9_000n,
  credits: [credit, fee, aside],
  parts: new Map([[dog, { owed: 40n, aside: 3n, waiting: 2n, held: 45n }]]),
  heldAt: new Map([
    ['one:2', new Map([[dog, 40n]])],
    ['two:0', new Map([[dog, 3n]])],
    ['three:0', new Map([[dog, 2n]])],
  ]),
  supply: new Map([[dog, 100n]]),
  burned: new Map([[dog, 7n]]),
  states: new Map([['a', 'completed']]),
};
const charges = new Set(['charge']);
const model: RuneState = {
  ...noRunes,
  unspent: new Map([
    ['one:2', { script: 'charge', runes: new Map([[dog, 40n]]) }],
    ['two:0', { script: 'charge', runes: new Map([[dog, 3n]]) }],
    ['three:0', { script: 'charge', runes: new Map([[dog, 2n]]) }],
    ['four:0', { script: 'stranger', runes: new Map([[dog, 55n]]) }],
  ]),
  made: new Map([
    ['one:2', new Map([[dog, 40n]])],
    ['two:0', new Map([[dog, 3n]])],
    ['three:0', new Map([[dog, 2n]])],
    ['four:0', new Map([[dog, 55n]])],
  ]),
  burned: new Map([[dog, 7n]]),
};
const faultsOf = (look: TokenLook, state = model): string[] => [
  ...ledgerFaults(look),
  ...heldFaults(look),
  ...chainFaults(look, state, charges),
];

describe('the verdict of a look at the money of shops', () => {
  test('finds nothing in a sound one', () => expect(faultsOf(sound)).toEqual([]));

  test.each<readonly [string, TokenLook, string]>([
    ['a credit twice', { ...sound, credits: [...sound.credits, credit] }, 'credited twice'],
    ['a lost credit', { ...sound, credits: [fee, aside] }, 'credits come to 0'],
    [
      'a balance that is too high',
      { ...sound, balances: new Map([...sound.balances, [`shop ${dog}`, 41n]]) },
      'is 41',
    ],
    [
      'a balance without a row',
      { ...sound, balances: new Map([['shop BTC', 1_546n]]) },
      'come to no balance',
    ],
    [
      'a balance without a credit',
      { ...sound, balances: new Map([...sound.balances, [`shop ${cat}`, 1n]]) },
      cat,
    ],
    ['sats that are lost', { ...sound, fees: 8_999n }, 'are not the 10546 sats'],
    [
      'units that are set aside and credited',
      { ...sound, parts: partsWith({ owed: 43n }) },
      'not the 45 held',
    ],
    ['units that nothing waits for', { ...sound, parts: partsWith({ waiting: 0n }) }, 'not the 45 held'],
    [
      'units that addresses do not hold',
      { ...sound, parts: partsWith({ waiting: 1n, held: 44n }) },
      'the model 45',
    ],
    ['a supply that the chain has not', { ...sound, supply: new Map([[dog, 101n]]) }, 'the index has 101'],
    ['a burn that is missed', { ...sound, burned: new Map() }, 'burned 0'],
    [
      'a credit of other units than its output has',
      {
        ...sound,
        credits: [
          {
            ...credit,
            runes: new Map([
              [dog, 39n],
              [cat, 1n],
            ]),
          },
          fee,
          aside,
        ],
      },
      'the credit one:2 of a has 39',
    ],
  ])('finds %s', (_name, look, words) => {
    expect(faultsOf(look).join('\n')).toContain(words);
  });

  test('lets a credit go that a reorganisation took back, and finds one that stays in the sum', () => {
    const heldAt = new Map([...sound.heldAt].filter(([outpoint]) => outpoint !== 'one:2'));
    const parts = partsWith({ held: 5n });
    const gone = { ...sound, heldAt, parts, credits: [{ ...credit, isStale: true }, fee, aside] };
    expect(heldFaults(gone)).toEqual([]);
    expect(heldFaults({ ...gone, credits: sound.credits })).toHaveLength(1);
    // index and payments have different blocks: nothing can be said
    expect(heldFaults({ ...gone, credits: sound.credits, isAtOneBlock: false })).toEqual([]);
    // another block has its payment, with fewer units
    const moved = new Map([...heldAt, ['one:2', new Map([[dog, 30n]])]]);
    expect(heldFaults({ ...gone, heldAt: moved, parts: partsWith({ held: 35n }) })).toEqual([]);
  });
});

function partsWith(part: Partial<{ owed: bigint; aside: bigint; waiting: bigint; held: bigint }>) {
  return new Map([[dog, { ...sound.parts.get(dog)!, ...part }]]);
}

const order: ModelOrder = {
  id: 'a',
  account: 'shop',
  rune: dog,
  amount: 40n,
  feeAmount: 10_000n,
  baseFee: 9_000n,
  feeScript: 'fee',
  tokenScript: 'token',
  isOver: false,
};
const paid = (script: string, sats: bigint, units = 0n, more: Partial<PaidOutput> = {}): PaidOutput => ({
  outpoint: `${script}:${sats}:${units}`,
  script,
  sats,
  runes: units === 0n ? new Map() : new Map([[dog, units]]),
  isAside: false,
  ...more,
});

describe('the model of an order', () => {
  test.each<readonly [string, readonly PaidOutput[], readonly string[], Record<string, bigint>]>([
    ['nothing came', [], ['pending', 'pending_payment', 'pending_payment'], {}],
    [
      'paid in parts',
      [paid('token', 546n, 15n), paid('token', 546n, 25n), paid('fee', 10_000n)],
      ['completed', 'completed', 'completed'],
      { BTC: 2_092n, [dog]: 40n },
    ],
    [
      'one unit is missing',
      [paid('token', 546n, 39n), paid('fee', 10_000n)],
      ['pending', 'completed', 'payment_seen'],
      { BTC: 1_546n, [dog]: 39n },
    ],
    ['part of the base fee', [paid('fee', 8_000n)], ['pending', 'payment_seen', 'pending_payment'], {}],
    [
      'the rune at the fee',
      [paid('fee', 546n, 40n)],
      ['pending', 'payment_seen', 'pending_payment'],
      { [dog]: 40n },
    ],
    [
      'another rune',
      [paid('token', 546n, 0n, { runes: new Map([[cat, 40n]]) })],
      ['pending', 'pending_payment', 'pending_payment'],
      { BTC: 546n, [cat]: 40n },
    ],
    [
      'an inscription in it',
      [paid('token', 546n, 40n, { isAside: true })],
      ['pending', 'pending_payment', 'pending_payment'],
      {},
    ],
  ])('%s', (_name, outputs, [state, feeState, token], gain) => {
    const end = endOfOrder(order, outputs);
    expect([end.state, end.fee, end.token]).toEqual([state, feeState, token]);
    expect(Object.fromEntries(end.gain)).toEqual(gain);
    expect(end.received).toHaveLength(outputs.length);
  });

  test('all that comes late is the account’s', () => {
    const end = endOfOrder({ ...order, isOver: true }, [paid('token', 546n, 40n), paid('fee', 10_000n)]);
    expect([end.state, end.fee, end.token]).toEqual(['error', 'expired', 'expired']);
    expect(Object.fromEntries(end.gain)).toEqual({ BTC: 10_546n, [dog]: 40n });
  });
});

describe('the verdict at the end', () => {
  const wanted: OrderEnd = { state: 'completed', fee: 'completed', token: 'completed', received: ['a', 'b'] };

  test.each<readonly [string, Partial<OrderEnd>, string]>([
    ['another state', { state: 'pending' }, 'has state pending'],
    ['another charge', { token: 'payment_seen' }, 'has token payment_seen'],
    ['an output that is not there', { received: ['a', 'b', 'c'] }, 'shows c'],
    ['a lost output', { received: ['a'] }, 'does not show b'],
    ['an output twice', { received: ['a', 'a', 'b'] }, 'twice'],
  ])('finds %s', (_name, change, words) => {
    expect(endFaults('a', wanted, wanted)).toEqual([]);
    expect(endFaults('a', { ...wanted, ...change }, wanted).join()).toContain(words);
  });

  test('finds a balance that is not the gain', () => {
    expect(balanceFaults(new Map([['a', 1n]]), new Map([['a', 1n]]))).toEqual([]);
    expect(balanceFaults(new Map([['a', 1n]]), new Map([['a', 2n]]))).toHaveLength(1);
    expect(balanceFaults(new Map(), new Map([['a', 2n]]))).toHaveLength(1);
  });

  const told: ToldOrder = {
    id: 'a',
    sequences: [1, 2, 3],
    last: 3,
    states: ['pending', 'completed', 'pending'],
    seen: ['pending', 'completed', 'pending'],
    end: 'pending',
    forged: 0,
  };

  test.each<readonly [string, Partial<ToldOrder>, string]>([
    ['a lost message', { sequences: [1, 3] }, 'told 1,3 and not 1,2,3'],
    ['messages in another order', { sequences: [1, 3, 2] }, 'told 1,3,2'],
    ['an end that was not told', { end: 'completed' }, 'told pending last'],
    [
      'a state that was not told',
      { states: ['pending', 'pending', 'pending'] },
      'was pending, completed, pending',
    ],
    ['states in another order', { seen: ['pending', 'completed', 'pending', 'completed'] }, 'and told'],
    ['a forged message', { forged: 1 }, 'wrong signature'],
  ])('finds %s', (_name, change, words) => {
    expect(toldFaults(told)).toEqual([]);
    expect(toldFaults({ ...told, ...change }).join()).toContain(words);
  });
});
