import { describe, expect, test } from 'vitest';
import { asBlockHash, trustedTxid } from '#kernel/primitives/hash.ts';
import { asHeight } from '#kernel/primitives/height.ts';
import type { OwedMoney } from '#orders/ledger/settlements.ts';
import type { OrderState } from '#orders/order/order-machine.ts';
import { candidates, type Deposit, progressOf } from '#orders/parents/deposits.ts';
import {
  isHoldingParents,
  type Return,
  type ReturnFacts,
  type ReturnFund,
  returnedAtOnce,
  returnOf,
} from '#orders/parents/returns.ts';
import { outpointOf } from '#purse/transactions/outpoint.ts';
import { returnCosts, returnFacts } from '#test/builders/return-facts.ts';

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
  inscriptions: [],
  runes: [],
});
const none: ReadonlySet<string> = new Set();
const found = (parents: number, deposits: readonly Deposit[], returned = none) =>
  candidates(parents, deposits, { expiresAt, now: expiresAt }, returned);

describe('the parents of an order', () => {
  test('are those that arrived at their own deposits in time', () => {
    const here = deposit(0, 1, 'here');
    const seen = deposit(1, 2, 'seen');
    expect(found(2, [deposit(0, 0, 'seen'), here, seen])).toEqual([here, seen]);
    expect(progressOf([here, seen])).toBe('seen');
    expect(progressOf([here, here])).toBe('here');
    expect(progressOf([here, undefined])).toBe('missing');
    expect(progressOf([])).toBe('here');
  });

  test('are not other inscriptions, nor late, gone or returned ones', () => {
    const home = deposit(0, 4, 'here');
    const deposits = [deposit(0, 1, 'other'), deposit(0, 2, 'here', 1001), deposit(0, 3, 'gone'), home];
    expect(found(1, deposits, new Set([outpointOf(home.payment)]))).toEqual([undefined]);
  });
});

describe('a return', () => {
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
    isInscribed: false,
  });
  const facts = returnFacts(expiresAt);
  const wrong = deposit(0, 1, 'other');
  const sats = (vout: number, index = 0): Deposit => ({ ...deposit(index, vout, 'other'), isHolding: false });
  const customer = (
    coins: readonly OwedMoney[],
    deposited: readonly Deposit[] = [],
    costMax: bigint | null = null,
  ): ReturnFund => ({ kind: 'customer', money: coins, sats: deposited, costMax });
  const operator = (costMax: bigint): ReturnFund => ({ kind: 'operator', costMax });
  const placesOf = (returned: Return | null) => returned?.holdings.map(({ payment }) => payment.vout);

  test('while an order waits has what is not its parent, paid by money that it does not need', () => {
    const right = deposit(0, 0, 'here');
    const coins = [money(0, 5000n), money(1, 700n), money(2, 800n)];
    const given = { ...facts, deposits: [right, wrong], candidates: [right] };
    expect(returnOf(given)).toMatchObject({ funds: [], isLast: true });
    expect(placesOf(returnOf(given))).toEqual([1]);
    const rich = { ...given, payments: coins.map(paid), owed: coins };
    expect(returnOf(rich)?.funds).toEqual([customer(coins.slice(1), [], 5000n)]);
    expect(
      returnOf({ ...rich, facts: { ...facts.facts, costs: { ...returnCosts, amount: 5800n } } })?.funds,
    ).toEqual([customer([coins[1]!], [], 5000n)]);
    expect(
      returnOf({ ...rich, facts: { ...facts.facts, costs: { ...returnCosts, amount: 7000n } } })?.funds,
    ).toEqual([]);
    // dust does not count as money that the order needs
    const dust = [money(3, 200n)];
    const poor = { ...given, payments: dust.map(paid), owed: dust };
    expect(returnOf(poor)?.funds).toEqual([customer(dust, [], 5000n)]);
  });

  test('while an order waits is not paid with coins of its delivery', () => {
    const right = deposit(0, 0, 'here');
    const [large, less, inscribed] = [money(0, 3000n), money(1, 2500n), money(2, 2600n)];
    const given = { ...facts, deposits: [right, wrong], candidates: [right], owed: [large, less] };
    const coins = [large, less, inscribed].map(paid);
    const holding = [
      { payment: { ...wrong.payment, ...inscribed }, isParent: false, inscriptions: [], runes: [] },
    ];
    expect(returnOf({ ...given, payments: coins, holding })?.funds ?? []).toEqual([]);
  });

  test('of an order that is over has everything left, parents first, paid by all of its money', () => {
    const left = deposit(0, 0, 'here');
    const coins = [money(0, 5000n)];
    const over = { ...facts, state: 'waiting-refund' as const, deposits: [left, wrong], candidates: [left] };
    const first = returnOf({ ...over, payments: coins.map(paid), owed: coins });
    expect(placesOf(first)).toEqual([0]);
    // all of the money may pay for the parent's return; anyone may have sent the other outputs
    expect(first).toMatchObject({ funds: [customer(coins), operator(5000n)], isLast: false });
    const second = returnOf({ ...over, owed: coins, spent: new Set([outpointOf(left.payment)]) });
    expect(placesOf(second)).toEqual([1]);
    expect(second).toMatchObject({ funds: [customer(coins, [], 5000n), operator(5000n)], isLast: true });
    expect(returnOf({ ...over, deposits: [deposit(0, 0, 'seen'), deposit(0, 2, 'gone')] })).toBeNull();
  });

  test('without a parent costs the customer little, then us, and then is not made', () => {
    const over = {
      ...facts,
      state: 'waiting-refund' as const,
      deposits: [wrong],
      owed: [money(0, 100_000n)],
    };
    const of = (more: Partial<ReturnFacts>) => returnOf({ ...over, ...more })?.funds;
    expect(of({ strayCost: 2000n })).toEqual([customer(over.owed, [], 3000n), operator(5000n)]);
    expect(of({ strayCost: 5000n })).toEqual([operator(5000n)]);
    expect(of({ strayCost: 5000n, ourCost: 4000n })).toEqual([operator(1000n)]);
    expect(of({ strayCost: 5000n, ourCost: 5000n })).toEqual([]);
  });

  test('is paid by sats of deposits if the charge has no money, and by both together', () => {
    const left = deposit(0, 0, 'here');
    const over = { ...facts, state: 'waiting-refund' as const, deposits: [left, sats(7)] };
    expect(returnOf(over)).toMatchObject({ funds: [customer([], [sats(7)]), operator(5000n)], isLast: true });
    const owed = [money(4, 700n)];
    expect(returnOf({ ...over, owed })?.funds).toEqual([
      customer(owed),
      customer([], [sats(7)]),
      customer(owed, [sats(7)]),
      operator(5000n),
    ]);
  });

  test('has only sats if only these are left, one address at a time', () => {
    const over = { ...facts, state: 'waiting-refund' as const, owed: [money(0, 9000n)] };
    const deposits = [sats(1), sats(2, 1), sats(3)];
    expect(returnOf({ ...over, deposits })).toEqual({
      holdings: [],
      funds: [customer([], [sats(1), sats(3)]), customer([], [sats(2, 1)])],
      isLast: false,
    });
  });

  test('has holdings of payments, once the order does not wait, if there is an address', () => {
    const inscribed = { payment: deposit(0, 8, 'here').payment, isParent: true, inscriptions: [], runes: [] };
    const over = { ...facts, state: 'waiting-refund' as const, holding: [inscribed] };
    expect(returnOf(over)).toMatchObject({
      holdings: [{ payment: inscribed.payment, at: null, isParent: true, isDust: false }],
      funds: [operator(5000n)],
      isLast: true,
    });
    expect(returnOf({ ...over, refundDust: null })).toBeNull();
    expect(returnOf({ ...over, state: 'waiting-payment' })).toBeNull();
    expect(returnOf({ ...over, refundDust: 10_001n })?.holdings).toMatchObject([{ isDust: true }]);
  });

  test('has one holding below dust at a time, after all others', () => {
    const small = { ...deposit(0, 5, 'other'), isDust: true };
    const over = { ...facts, state: 'waiting-refund' as const, deposits: [small, { ...small }, wrong] };
    expect(placesOf(returnOf(over))).toEqual([1, 5]);
  });

  test('of a delivered order is paid with our money if there is no other', () => {
    const ours = [money(0, 400n, 0n), money(1, 1900n, 0n)];
    const excess = money(2, 9000n, 7000n);
    const delivered = { ...facts, state: 'completed' as const, deposits: [wrong], ours, share: 300n };
    expect(returnOf({ ...delivered, owed: [excess] })?.funds).toEqual([
      { kind: 'service', money: [ours[1]], costMax: 1600n },
      operator(5000n),
    ]);
    const owed = [excess, money(3, 600n)];
    expect(returnOf({ ...delivered, owed })?.funds[0]).toEqual(customer([money(3, 600n)], [], 5000n));
  });

  test('of a delivered order never costs us for an output with only sats', () => {
    const ours = [money(1, 90_000n, 0n)];
    const delivered = { ...facts, state: 'completed' as const, deposits: [sats(3)], ours };
    expect(returnOf(delivered)).toMatchObject({ holdings: [], funds: [customer([], [sats(3)])] });
    const both = returnOf({ ...delivered, deposits: [sats(3), wrong], ourCost: 2000n });
    expect(placesOf(both)).toEqual([1]);
    expect(both?.funds).toContainEqual({ kind: 'service', money: ours, costMax: 3000n });
    const spent = returnOf({ ...delivered, deposits: [wrong], ourCost: 5000n });
    expect(spent?.funds).toEqual([]);
  });

  test('fits into one transaction, and the rest of its money pays for the next one', () => {
    const many = Array.from({ length: 1700 }, (_, vout) => deposit(0, vout, 'other'));
    const owed = Array.from({ length: 1700 }, (_, vout) => money(vout, BigInt(vout)));
    const over = { ...facts, state: 'waiting-refund' as const, deposits: many, owed };
    const first = returnOf(over)!;
    expect(first.holdings.length).toBeLessThanOrEqual(returnedAtOnce);
    expect(first.isLast).toBe(false);
    const [fund] = first.funds;
    expect(fund?.kind === 'customer' && [fund.money.length, fund.money[0]]).toEqual([
      returnedAtOnce,
      owed.at(-1),
    ]);
    const spent = new Set(first.holdings.map(({ payment }) => outpointOf(payment)));
    expect(placesOf(returnOf({ ...over, spent }))?.[0]).toBe(first.holdings.length);
    // the rest of the money must be in a block first, and until then no other fund pays
    expect(returnOf({ ...over, spent, owed: [] })?.funds).toEqual([operator(5000n)]);
    expect(returnOf({ ...over, spent, owed: [], isMoneyComing: true })).toBeNull();
  });

  test('has one deposit at a time if runes are unknown', () => {
    const blind = [deposit(0, 1, 'other'), deposit(1, 2, 'other')].map((one) => ({ ...one, runes: null }));
    const over = { ...facts, state: 'waiting-refund' as const, deposits: blind, owed: [money(0, 5000n)] };
    expect(placesOf(returnOf(over))).toEqual([1]);
    expect(returnOf(over)?.isLast).toBe(false);
  });

  test.each<OrderState>(['prep', 'queued', 'error', 'expired', 'cancelled', 'refunded'])(
    'is not made while an order is in the state %s',
    (state) => {
      expect(returnOf({ ...facts, state, deposits: [wrong] })).toBeNull();
    },
  );

  test('holds the money of an order back only for a possible parent in a block', () => {
    const block = { height: asHeight(5), hash: asBlockHash(Buffer.alloc(32)) };
    const here = deposit(0, 1, 'here');
    const seen = deposit(0, 2, 'seen');
    const mined = { ...seen, payment: { ...seen.payment, block } };
    const keeps = (one: Deposit, candidate: Deposit | undefined = one, spent = none) =>
      isHoldingParents({ spent, holding: [] }, [one], [candidate]);
    expect(keeps(here)).toBe(true);
    expect(keeps(here, here, new Set([outpointOf(here.payment)]))).toBe(false);
    expect(keeps(mined)).toBe(true);
    expect(isHoldingParents({ spent: none, holding: [] }, [mined], [undefined])).toBe(false);
    expect(keeps(seen)).toBe(false);
    expect(keeps(wrong)).toBe(false);
    const inscribed = { payment: here.payment, isParent: true, inscriptions: [], runes: [] };
    expect(isHoldingParents({ spent: none, holding: [inscribed] }, [], [])).toBe(true);
  });
});
