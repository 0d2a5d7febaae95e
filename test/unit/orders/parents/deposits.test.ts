import { describe, expect, test } from 'vitest';
import { trustedTxid } from '#kernel/primitives/hash.ts';
import { asHeight } from '#kernel/primitives/height.ts';
import type { OwedMoney } from '#orders/ledger/settlements.ts';
import type { CoinCosts } from '#orders/order/coin-selection.ts';
import type { OrderState } from '#orders/order/order-machine.ts';
import { outpointOf } from '#orders/order/outpoint.ts';
import { candidates, type Deposit, progressOf } from '#orders/parents/deposits.ts';
import { ourCostMax, type ReturnFacts, returnedAtOnce, returnOf } from '#orders/parents/returns.ts';

const expiresAt = new Date(1000);
const deposit = (index: number, vout: number, state: Deposit['state'], at = 500): Deposit => ({
  at: { index, keyIndex: index, script: new Uint8Array(34), address: `${index}` },
  payment: {
    txid: trustedTxid(new Uint8Array(32)),
    vout,
    script: new Uint8Array(34),
    value: 10_000n,
    firstSeen: new Date(at),
    block: null,
    goneAt: null,
    replacedBy: null,
    change: 1,
  },
  state,
  isDust: false,
  isHolding: true,
  isUnspent: true,
  runes: [],
});
const none: ReadonlySet<string> = new Set();
const found = (parents: number, deposits: readonly Deposit[], sentHome = none) =>
  candidates(parents, deposits, { expiresAt }, sentHome);

describe('the parents of an order', () => {
  test('are those that came to their own deposits in time', () => {
    const here = deposit(0, 1, 'here');
    const seen = deposit(1, 2, 'seen');
    expect(found(2, [deposit(0, 0, 'seen'), here, seen])).toEqual([here, seen]);
    expect(progressOf([here, seen])).toBe('seen');
    expect(progressOf([here, here])).toBe('here');
    expect(progressOf([here, undefined])).toBe('missing');
    expect(progressOf([])).toBe('here');
  });

  test('are not what is another inscription, came late, is gone or was sent home', () => {
    const home = deposit(0, 4, 'here');
    const deposits = [deposit(0, 1, 'other'), deposit(0, 2, 'here', 1001), deposit(0, 3, 'gone'), home];
    expect(found(1, deposits, new Set([outpointOf(home.payment)]))).toEqual([undefined]);
  });
});

describe('what goes home', () => {
  const money = (vout: number, value: bigint, owed = value): OwedMoney => ({
    txid: trustedTxid(new Uint8Array(32).fill(9)),
    vout,
    value,
    owed,
    at: 'address',
  });
  const paid = (one: OwedMoney) => ({
    outpoint: outpointOf(one),
    value: one.value,
    firstSeen: new Date(0),
    height: asHeight(5),
    isGone: false,
    isTaken: false,
    isUsed: false,
  });
  const costs: CoinCosts = {
    amount: 5000n,
    extraCost: 0n,
    input: 100n,
    spare: 1000n,
    inputsMax: 10,
    wantsSats: false,
  };
  const facts: ReturnFacts = {
    state: 'waiting-parent',
    facts: { costs, expiresAt, tip: asHeight(9), confirmations: 1 },
    deposits: [],
    candidates: [undefined],
    spent: none,
    payments: [],
    owed: [],
    ours: [],
    share: 0n,
    ourCost: 0n,
    isMoneyComing: false,
  };
  const wrong = deposit(0, 1, 'other');

  test('while an order waits is what is not its parent, with money that it does not need', () => {
    const right = deposit(0, 0, 'here');
    const coins = [money(0, 5000n), money(1, 700n), money(2, 800n)];
    const given = { ...facts, deposits: [right, wrong], candidates: [right] };
    expect(returnOf(given)).toEqual({ deposits: [wrong], money: [], ours: null, isLast: false });
    const rich = { ...given, payments: coins.map(paid), owed: coins };
    expect(returnOf(rich)).toEqual({ deposits: [wrong], money: coins.slice(1), ours: null, isLast: true });
    expect(
      returnOf({ ...rich, facts: { ...facts.facts, costs: { ...costs, amount: 5800n } } })?.money,
    ).toEqual([coins[1]]);
    expect(
      returnOf({ ...rich, facts: { ...facts.facts, costs: { ...costs, amount: 7000n } } })?.money,
    ).toEqual([]);
    // dust counts for nothing, so an order does not need it
    const dust = [money(3, 200n)];
    expect(returnOf({ ...given, payments: dust.map(paid), owed: dust })?.money).toEqual(dust);
  });

  test('of an order that is over is all that is left, with all of its money', () => {
    const left = deposit(0, 0, 'here');
    const coins = [money(0, 5000n)];
    const over = { ...facts, state: 'waiting-refund' as const, deposits: [left, wrong], candidates: [left] };
    expect(returnOf({ ...over, payments: coins.map(paid), owed: coins })).toEqual({
      deposits: [left, wrong],
      money: coins,
      ours: null,
      isLast: true,
    });
    expect(returnOf({ ...over, spent: new Set([outpointOf(left.payment)]) })?.deposits).toEqual([wrong]);
    expect(returnOf({ ...over, deposits: [deposit(0, 0, 'seen'), deposit(0, 2, 'gone')] })).toBeNull();
  });

  test('is one of what is too little to go home by itself at a time, behind all else', () => {
    const small = { ...deposit(0, 5, 'other'), isDust: true };
    const over = { ...facts, state: 'waiting-refund' as const, deposits: [small, { ...small }, wrong] };
    expect(returnOf(over)?.deposits).toEqual([wrong, small]);
  });

  test('of a delivered order is paid with ours where nothing else is there', () => {
    const ours = [money(0, 400n, 0n), money(1, 1900n, 0n)];
    const excess = money(2, 9000n, 7000n);
    const delivered = { ...facts, state: 'completed' as const, deposits: [wrong], ours, share: 300n };
    expect(returnOf({ ...delivered, owed: [excess] })).toEqual({
      deposits: [wrong],
      money: [ours[1]],
      ours: 300n,
      isLast: true,
    });
    expect(returnOf({ ...delivered, owed: [excess, money(3, 600n)] })?.money).toEqual([money(3, 600n)]);
  });

  test('of a delivered order is nothing at our cost that holds neither inscription nor rune', () => {
    const ours = [money(1, 90_000n, 0n)];
    const junk = { ...deposit(0, 3, 'other'), isHolding: false, isDust: true };
    const delivered = { ...facts, state: 'completed' as const, deposits: [junk, wrong], ours };
    // at most so much more of ours is gone
    expect(returnOf(delivered)).toEqual({
      deposits: [wrong],
      money: ours,
      ours: 90_000n - ourCostMax,
      isLast: false,
    });
    expect(returnOf({ ...delivered, deposits: [junk] })).toMatchObject({ deposits: [junk], money: [] });
    expect(returnOf({ ...delivered, ourCost: 2000n })?.ours).toBe(92_000n - ourCostMax);
    expect(returnOf({ ...delivered, ourCost: ourCostMax })).toMatchObject({ money: [], ours: null });
    // a customer's money pays for all, for what holds something first
    const owed = [money(4, 700n)];
    expect(returnOf({ ...delivered, owed })).toMatchObject({ deposits: [wrong], money: owed, isLast: false });
    expect(returnOf({ ...delivered, owed, deposits: [junk] })).toMatchObject({
      deposits: [junk],
      money: owed,
      isLast: true,
    });
  });

  test('fits into one transaction, and what is left of its money pays for the next one', () => {
    const many = Array.from({ length: 1700 }, (_, vout) => deposit(0, vout, 'other'));
    const owed = Array.from({ length: 1700 }, (_, vout) => money(vout, BigInt(vout)));
    const over = { ...facts, state: 'waiting-refund' as const, deposits: many, owed };
    const first = returnOf(over)!;
    expect(first.deposits.length).toBeLessThanOrEqual(returnedAtOnce);
    expect(first.isLast).toBe(false);
    expect(first.money).toHaveLength(returnedAtOnce);
    expect(first.money[0]).toBe(owed.at(-1));
    const spent = new Set(first.deposits.map(({ payment }) => outpointOf(payment)));
    expect(returnOf({ ...over, spent })?.deposits[0]).toBe(many[first.deposits.length]);
    // which is in a block first: until then nobody is asked for more
    expect(returnOf({ ...over, spent, owed: [] })?.money).toEqual([]);
    expect(returnOf({ ...over, spent, owed: [], isMoneyComing: true })).toBeNull();
  });

  test('is one deposit at a time where runes are not known', () => {
    const blind = [deposit(0, 1, 'other'), deposit(1, 2, 'here')].map((one) => ({ ...one, runes: null }));
    const over = { ...facts, state: 'waiting-refund' as const, deposits: blind, owed: [money(0, 5000n)] };
    expect(returnOf(over)).toMatchObject({ deposits: [blind[0]], isLast: false });
  });

  test.each<OrderState>(['prep', 'queued', 'error', 'expired', 'cancelled', 'refunded'])(
    'is nothing while an order is in the state %s',
    (state) => {
      expect(returnOf({ ...facts, state, deposits: [wrong] })).toBeNull();
    },
  );
});
