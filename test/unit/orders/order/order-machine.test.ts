import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { asHeight, type Height } from '#kernel/primitives/height.ts';
import type { CoinCosts } from '#orders/order/coin-selection.ts';
import { nextEvent, type OrderFacts, type OrderPayment } from '#orders/order/order-facts.ts';
import { nextState, orderEvents, orderStates, transitions } from '#orders/order/order-machine.ts';
import { propertyRuns } from '#test/support/property-runs.ts';

const hour = 3_600_000;
const start = Date.UTC(2026, 0, 1);
const constants = (of: CoinCosts) => ({
  amount: fc.constant(of.amount),
  input: fc.constant(of.input),
  spare: fc.constant(of.spare),
  inputsMax: fc.constant(of.inputsMax),
});
/** Costs where each further input costs 300 sats, and the service pays 500 sats of these in total. */
const costs: CoinCosts = {
  amount: 10_000n,
  extraCost: 0n,
  input: 300n,
  spare: 500n,
  inputsMax: 3,
  wantsSats: false,
};
const payment: fc.Arbitrary<OrderPayment> = fc.record({
  outpoint: fc.nat(9).map((vout) => `${'ab'.repeat(32)}:${vout}`),
  value: fc.constantFrom(0n, 100n, 330n, 4000n, 6000n, 10_000n, 11_000n),
  firstSeen: fc.constantFrom(new Date(start), new Date(start + 2 * hour)),
  height: fc.constantFrom<(Height | null)[]>(null, asHeight(100), asHeight(101), asHeight(103)),
  isGone: fc.boolean(),
  isTaken: fc.boolean(),
  isUsed: fc.boolean(),
  isInscribed: fc.boolean(),
});
const facts: fc.Arbitrary<OrderFacts> = fc.record({
  costs: fc.record({
    ...constants(costs),
    extraCost: fc.constantFrom(0n, 900n),
    wantsSats: fc.boolean(),
  }),
  expiresAt: fc.constant(new Date(start + hour)),
  now: fc.constantFrom(new Date(start), new Date(start + 3 * hour)),
  tip: fc.constantFrom<(Height | null)[]>(null, asHeight(103)),
  confirmations: fc.constantFrom(1, 3),
  payments: fc.array(payment, { maxLength: 4 }),
  parents: fc.constantFrom('missing', 'seen', 'here'),
  hasDeposits: fc.boolean(),
  isCancelAsked: fc.boolean(),
  wasShort: fc.boolean(),
  wasPaid: fc.boolean(),
  isRepriced: fc.boolean(),
  isSatGone: fc.boolean(),
  hasReveal: fc.boolean(),
  isRevealed: fc.boolean(),
  isAnchorTaken: fc.boolean(),
  rune: fc.constantFrom(null, 'missing', 'part', 'seen', 'here', 'over'),
  isRevealHeld: fc.boolean(),
  isNameLost: fc.boolean(),
  isMinting: fc.boolean(),
  isUnmined: fc.boolean(),
  refund: fc.constantFrom<('sent' | 'deep' | null)[]>(null, 'sent', 'deep'),
});

const base: OrderFacts = {
  costs,
  expiresAt: new Date(start + hour),
  now: new Date(start),
  tip: asHeight(103),
  confirmations: 2,
  payments: [],
  parents: 'here',
  hasDeposits: false,
  isCancelAsked: false,
  wasShort: false,
  wasPaid: false,
  isMinting: false,
  isRepriced: false,
  isSatGone: false,
  hasReveal: false,
  isRevealed: false,
  isAnchorTaken: false,
  rune: null,
  isRevealHeld: false,
  isNameLost: false,
  isUnmined: false,
  refund: null,
};
const paid = (more: Partial<OrderPayment> = {}): OrderPayment => ({
  outpoint: `${'cd'.repeat(32)}:0`,
  value: 10_000n,
  firstSeen: new Date(start),
  height: null,
  isGone: false,
  isTaken: false,
  isUsed: false,
  isInscribed: false,
  ...more,
});

describe('the states of an order', () => {
  test('events that follow from the facts are never refused, and end', () => {
    fc.assert(
      fc.property(fc.constantFrom(...orderStates), facts, (from, given) => {
        let state = from;
        for (let steps = 0; ; steps++) {
          const event = nextEvent(state, given);
          if (event === null) return;
          const next = nextState(state, event);
          expect(next, `${state} refuses ${event}`).not.toBeNull();
          expect(steps, `${from} runs in a circle`).toBeLessThan(orderStates.length);
          state = next!;
        }
      }),
      { numRuns: propertyRuns(5000) },
    );
  });

  test('every event and every state is used', () => {
    const led = new Set(orderStates.flatMap((state) => Object.values(transitions[state])));
    const used = new Set(orderStates.flatMap((state) => Object.keys(transitions[state])));
    expect([...orderStates].filter((state) => !led.has(state))).toEqual([]);
    expect([...orderEvents].filter((event) => !used.has(event))).toEqual([]);
  });

  test.each<[string, OrderFacts, string | null]>([
    ['nothing was paid yet', base, null],
    ['it is short, and there is time', { ...base, payments: [paid({ value: 9_999n })] }, null],
    ['it is there, unconfirmed', { ...base, payments: [paid()] }, 'seen'],
    ['it has too few confirmations', { ...base, payments: [paid({ height: asHeight(103) })] }, 'seen'],
    ['it is deep', { ...base, payments: [paid({ height: asHeight(102) })] }, 'paid'],
    [
      'it came in two parts',
      { ...base, payments: [4000n, 6000n].map((value) => paid({ value, height: asHeight(100) })) },
      'paid',
    ],
    ['only dust is missing', { ...base, payments: [paid({ value: 9_900n }), paid({ value: 100n })] }, null],
    ['the time is over', { ...base, now: new Date(start + 2 * hour) }, 'timeout'],
    [
      'the time is over and it is short',
      { ...base, now: new Date(start + 2 * hour), payments: [paid({ value: 9_999n })] },
      'owing',
    ],
    [
      'it came late',
      {
        ...base,
        now: new Date(start + 3 * hour),
        payments: [paid({ firstSeen: new Date(start + 2 * hour) })],
      },
      'owing',
    ],
    [
      'it came in time and confirmed late',
      { ...base, now: new Date(start + 9 * hour), payments: [paid({ height: asHeight(100) })] },
      'paid',
    ],
    [
      'it is short, and its customer cancels',
      { ...base, isCancelAsked: true, payments: [paid({ value: 9_999n })] },
      null,
    ],
    [
      'it was repriced, and its customer cancels',
      { ...base, isCancelAsked: true, isRepriced: true, payments: [paid({ value: 9_999n })] },
      'cancelled',
    ],
    [
      'it was repriced, and is paid',
      { ...base, isCancelAsked: true, isRepriced: true, payments: [paid()] },
      'seen',
    ],
    ['its payment was replaced', { ...base, payments: [paid({ isGone: true })] }, null],
    ['its sat is gone', { ...base, isSatGone: true }, 'timeout'],
    ['its sat is gone, and it is paid', { ...base, isSatGone: true, payments: [paid()] }, 'seen'],
    [
      'its sat is gone, and it is short',
      { ...base, isSatGone: true, payments: [paid({ value: 9_999n })] },
      null,
    ],
  ])('while the order waits for a payment: %s', (_, given, event) => {
    expect(nextEvent('waiting-payment', given)).toBe(event);
  });

  test('a payment that a reorganisation removes stops the delivery until it is back', () => {
    expect(nextEvent('queued', { ...base, payments: [paid()] })).toBe('unpaid');
    expect(nextEvent('queued', { ...base, payments: [paid({ isGone: true })] })).toBe('gone');
  });

  test('a reorganisation that removes one of two payments, and the reveal with it, causes another reveal', () => {
    const payments = [paid({ height: asHeight(100) }), paid({ isGone: true })];
    expect(nextEvent('queued', { ...base, payments, hasReveal: false })).toBe('unpaid');
    expect(nextEvent('waiting-confirmation', { ...base, payments })).toBe('paid');
    expect(nextEvent('queued', { ...base, payments, hasReveal: true })).toBeNull();
  });

  test('a payment in time that becomes known once the time is over is delivered', () => {
    const now = new Date(start + 2 * hour);
    expect(nextEvent('expired', { ...base, now, payments: [paid()] })).toBe('seen');
    expect(nextEvent('expired', { ...base, now, payments: [paid({ height: asHeight(100) })] })).toBe('paid');
    expect(nextEvent('expired', { ...base, now, isCancelAsked: true, payments: [paid()] })).toBe('owing');
    const late = paid({ height: asHeight(100), firstSeen: now });
    expect(nextEvent('expired', { ...base, now, payments: [late] })).toBe('owing');
  });

  test('a given-up reveal in a block is delivered, and its money is not refunded', () => {
    const mined = {
      ...base,
      payments: [paid({ height: asHeight(100) })],
      hasReveal: true,
      wasPaid: true,
      refund: null,
    };
    expect(nextEvent('waiting-refund', mined)).toBe('planned');
    expect(nextEvent('error', mined)).toBe('planned');
    expect(nextEvent('waiting-refund', { ...mined, hasReveal: false })).toBeNull();
    expect(
      nextEvent('waiting-refund', { ...mined, hasReveal: false, payments: [paid({ isGone: true })] }),
    ).toBe('gone');
  });

  test('a reveal that a miner does not mine is given up, and its money is refunded', () => {
    const unmined = {
      ...base,
      payments: [paid({ height: asHeight(100) })],
      hasReveal: true,
      wasPaid: true,
      isUnmined: true,
    };
    expect(nextEvent('queued', unmined)).toBe('unmined');
    expect(nextEvent('waiting-refund', unmined)).toBeNull();
    expect(nextEvent('waiting-refund', { ...unmined, isUnmined: false })).toBe('planned');
    expect(nextEvent('queued', { ...unmined, payments: [paid({ isUsed: true })] })).toBe('unpaid');
  });

  test('an inscription that was taken before its burn is an error, until a reorganisation returns it', () => {
    const taken = {
      ...base,
      payments: [paid({ height: asHeight(100) })],
      hasReveal: true,
      wasPaid: true,
      isAnchorTaken: true,
    };
    expect(nextEvent('queued', taken)).toBe('failed');
    expect(nextEvent('error', taken)).toBeNull();
    expect(nextEvent('waiting-refund', taken)).toBeNull();
    expect(nextEvent('error', { ...taken, isAnchorTaken: false })).toBe('planned');
    expect(nextEvent('queued', { ...taken, hasReveal: false, payments: [paid({ isGone: true })] })).toBe(
      'gone',
    );
  });

  test('a payment without a block counts for three days after the time of an order', () => {
    const dust = paid({ value: 4000n, outpoint: `${'ef'.repeat(32)}:0` });
    const most = paid({ value: 6000n, height: asHeight(100) });
    const at = (hours: number) => ({
      ...base,
      now: new Date(start + (1 + hours) * hour),
      payments: [most, dust],
    });
    expect(nextEvent('waiting-confirmation', at(72))).toBeNull();
    expect(nextEvent('waiting-confirmation', at(73))).toBe('gone');
    expect(nextEvent('waiting-payment', at(73))).toBe('owing');
  });

  test('a payment in time that becomes known while dust waits for its refund is delivered', () => {
    const dust = paid({ value: 330n, height: asHeight(103), outpoint: `${'ef'.repeat(32)}:0` });
    const known = {
      ...base,
      now: new Date(start + 9 * hour),
      payments: [dust, paid({ height: asHeight(100) })],
    };
    expect(nextEvent('waiting-refund', { ...known, payments: [dust] })).toBeNull();
    expect(nextEvent('waiting-refund', known)).toBe('paid');
    for (const more of [
      { wasPaid: true },
      { isCancelAsked: true },
      { isRepriced: true },
      { refund: 'sent' },
    ] as const)
      expect(nextEvent('waiting-refund', { ...known, ...more })).toBeNull();
  });

  test('an inscribed payment counts for nothing', () => {
    const inscribed = paid({ height: asHeight(100), isInscribed: true });
    expect(nextEvent('waiting-payment', { ...base, payments: [inscribed] })).toBeNull();
    const rest = paid({ value: 9_600n, height: asHeight(100), outpoint: `${'ef'.repeat(32)}:0` });
    expect(
      nextEvent('waiting-payment', { ...base, payments: [rest, { ...inscribed, value: 546n }] }),
    ).toBeNull();
  });

  test('money for an order that is over is owed', () => {
    expect(nextEvent('expired', { ...base, payments: [paid({ value: 9_999n })] })).toBe('owing');
    expect(nextEvent('cancelled', { ...base, payments: [paid()] })).toBe('owing');
    expect(nextEvent('completed', { ...base, isRevealed: true, payments: [paid(), paid()] })).toBeNull();
  });
});
