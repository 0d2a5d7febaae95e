import { describe, expect, test } from 'vitest';
import {
  endOfOrder,
  type ModelOrder,
  type OrderEnd,
  type PaidOutput,
} from '#test/chaos/tokens/order-model.ts';
import { noRunes, type RuneState } from '#test/chaos/tokens/rune-model.ts';
import {
  areFollowed,
  balanceFaults,
  chainFaults,
  endFaults,
  heldFaults,
  ledgerFaults,
  type SeenCredit,
  type SeenWithdrawal,
  type TokenLook,
  type ToldOrder,
  toldFaults,
} from '#test/chaos/tokens/tokens-verdict.ts';
import { type ReceivedOutput, takenBy, withdrawalEndFaults } from '#test/chaos/tokens/withdrawal-model.ts';

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

/** The state after 40 units are credited, 3 are set aside and 2 wait, while a stranger has 55. */
const sound: TokenLook = {
  isAtOneBlock: true,
  balances: new Map([
    [`shop ${dog}`, 40n],
    ['shop BTC', 1_546n],
  ]),
  reserved: new Map(),
  withdrawals: [],
  minerFees: 0n,
  fees: 9_000n,
  credits: [credit, fee, aside],
  parts: new Map([[dog, { owed: 40n, aside: 3n, waiting: 2n, held: 45n }]]),
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
  ...heldFaults(look, state),
  ...chainFaults(look, state, charges),
];

describe('the verdict of a look at the money of shops', () => {
  test('finds nothing in a sound one', () => expect(faultsOf(sound)).toEqual([]));

  test.each<readonly [string, TokenLook, string]>([
    ['a credit twice', { ...sound, credits: [...sound.credits, credit] }, 'credited twice'],
    ['a lost credit', { ...sound, credits: [fee, aside] }, 'its credits less its withdrawals are 0'],
    [
      'a balance that is too high',
      { ...sound, balances: new Map([...sound.balances, [`shop ${dog}`, 41n]]) },
      'is 41',
    ],
    ['a balance without a row', { ...sound, balances: new Map([['shop BTC', 1_546n]]) }, 'have no balance'],
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
    const made = new Map([...model.made].filter(([outpoint]) => outpoint !== 'one:2'));
    const parts = partsWith({ held: 5n });
    const gone = { ...sound, parts, credits: [{ ...credit, isStale: true }, fee, aside] };
    expect(heldFaults(gone, { made })).toEqual([]);
    expect(heldFaults({ ...gone, credits: sound.credits }, { made })).toHaveLength(1);
    // the index and the payments are at different blocks, so nothing can be compared
    expect(heldFaults({ ...gone, credits: sound.credits, isAtOneBlock: false }, { made })).toEqual([]);
    // another block contains the payment, with fewer units
    const moved = new Map([...made, ['one:2', new Map([[dog, 30n]])]]);
    expect(heldFaults({ ...gone, parts: partsWith({ held: 35n }) }, { made: moved })).toEqual([]);
  });
});

const taken: SeenWithdrawal = {
  id: 'w',
  account: 'shop',
  token: dog,
  amount: 10n,
  fee: 200n,
  postage: 330n,
  payer: 'balance',
  state: 'completed',
  txids: ['batch'],
};
/**
 * The state after a withdrawal of 10 of the 40 units. It cost 330 sats of postage and 200 for a miner, who got only
 * 150.
 */
const withdrawn: TokenLook = {
  ...sound,
  withdrawals: [taken],
  minerFees: 150n,
  fees: 9_050n,
  balances: new Map([
    [`shop ${dog}`, 30n],
    ['shop BTC', 1_016n],
  ]),
};
const open: SeenWithdrawal = { ...taken, id: 'v', state: 'processing' };

describe('the verdict of withdrawals', () => {
  test('finds nothing where balances are credits less withdrawals, and reserve the open ones', () => {
    expect(ledgerFaults(withdrawn)).toEqual([]);
    const reserved = new Map([
      [`shop ${dog}`, 10n],
      ['shop BTC', 530n],
    ]);
    expect(ledgerFaults({ ...withdrawn, reserved, withdrawals: [taken, open] })).toEqual([]);
  });

  test.each<readonly [string, Partial<TokenLook>, string]>([
    ['one that took nothing', { balances: sound.balances }, 'is 40'],
    ['one that took without being completed', { withdrawals: [open] }, 'is 30'],
    ['a price that was not paid', { fees: 9_049n }, 'less withdrawals'],
    ['one that reserves nothing', { withdrawals: [taken, open] }, 'reserves 0'],
    ['units that stay reserved', { reserved: new Map([[`shop ${dog}`, 1n]]) }, 'open withdrawals 0'],
  ])('finds %s', (_name, change, words) => {
    expect(ledgerFaults({ ...withdrawn, ...change }).join()).toContain(words);
  });

  test('waits while the service has not seen the block of one', () => {
    const mined = new Set(['batch']);
    expect(areFollowed(withdrawn, mined)).toBe(true);
    expect(areFollowed(withdrawn, new Set())).toBe(false);
    expect(areFollowed({ withdrawals: [open] }, mined)).toBe(false);
  });

  const got = { outpoint: 'batch:2', sats: 330n, runes: new Map([[dog, 10n]]) };
  const coins = { ...taken, token: 'BTC', amount: 5_000n, postage: 0n, payer: 'withdrawal' };

  test('takes from an account what the payer of its price pays', () => {
    expect(Object.fromEntries(takenBy(taken))).toEqual({ [dog]: 10n, BTC: 530n });
    expect(Object.fromEntries(takenBy(coins))).toEqual({ BTC: 5_000n });
    expect(Object.fromEntries(takenBy({ ...coins, payer: 'balance' }))).toEqual({ BTC: 5_200n });
    expect(withdrawalEndFaults(coins, 'completed', [{ ...got, sats: 4_800n, runes: new Map() }])).toEqual([]);
  });

  test.each<readonly [string, string, readonly ReceivedOutput[], string]>([
    ['one that still waits', 'processing', [], 'is processing at the end'],
    ['one that was never sent', 'completed', [], '0 outputs'],
    ['one that was sent twice', 'completed', [got, got], '2 outputs'],
    ['one that was cancelled and sent', 'error', [got], '1 outputs'],
    ['other units', 'completed', [{ ...got, runes: new Map([[dog, 9n]]) }], 'and not "aa:10"'],
    ['other sats', 'completed', [{ ...got, sats: 331n }], 'brought 331 sats'],
  ])('finds %s', (_name, state, received, words) => {
    expect(withdrawalEndFaults(taken, 'completed', [got])).toEqual([]);
    expect(withdrawalEndFaults(taken, 'error', [])).toEqual([]);
    expect(withdrawalEndFaults(taken, state, received).join()).toContain(words);
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
    ['a lost message', { sequences: [1, 3] }, 'sent 1,3 and not 1,2,3'],
    ['messages in another order', { sequences: [1, 3, 2] }, 'sent 1,3,2'],
    ['an end that was not sent', { end: 'completed' }, 'sent pending last'],
    [
      'a state that was not sent',
      { states: ['pending', 'pending', 'pending'] },
      'was pending, completed, pending',
    ],
    ['states in another order', { seen: ['pending', 'completed', 'pending', 'completed'] }, 'and sent'],
    ['a forged message', { forged: 1 }, 'wrong signature'],
  ])('finds %s', (_name, change, words) => {
    expect(toldFaults(told)).toEqual([]);
    expect(toldFaults({ ...told, ...change }).join()).toContain(words);
  });
});
