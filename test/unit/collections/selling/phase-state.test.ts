import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { choosePhase, type Phase } from '#collections/selling/choose-phase.ts';
import {
  leftInPhase,
  nextChange,
  phaseStateAt,
  type SoldSupply,
  saleStateAt,
} from '#collections/selling/phase-state.ts';

const now = new Date('2026-11-29T12:00:00Z');
const at = (minutes: number): Date => new Date(now.getTime() + minutes * 60_000);
const phase = (given: object = {}) => ({
  phase: 'one',
  place: 0,
  isPublic: true,
  price: null,
  startsAt: null,
  endsAt: null,
  items: null,
  taken: 0,
  ...given,
});
const supply = (given: Partial<SoldSupply> = {}): SoldSupply => ({
  isClosed: false,
  isInRunes: false,
  total: 10,
  taken: 0,
  unpaid: 0,
  ...given,
});

test('a phase opens at its second, and ends at that of its end', () => {
  expect(phaseStateAt(phase({ startsAt: at(1) }), 5, now)).toBe('later');
  expect(phaseStateAt(phase({ startsAt: now }), 5, now)).toBe('open');
  expect(phaseStateAt(phase({ endsAt: now }), 5, now)).toBe('over');
  expect(phaseStateAt(phase({ items: 3, taken: 3 }), 5, now)).toBe('full');
  expect(phaseStateAt(phase(), 0, now)).toBe('full');
});

test.each([
  ['closed', supply({ isClosed: true }), [phase()]],
  ['runes', supply({ isInRunes: true }), [phase()]],
  ['sold out', supply({ taken: 10, isClosed: true }), [phase()]],
  ['reserved', supply({ taken: 10, unpaid: 1 }), [phase()]],
  ['reserved', supply({ taken: 2 }), [phase({ items: 2, taken: 2 })]],
  ['open', supply({ taken: 9 }), [phase({ endsAt: at(-1) }), phase()]],
  ['later', supply(), [phase({ startsAt: at(1) })]],
  ['between', supply(), [phase({ endsAt: at(-1) }), phase({ startsAt: at(1) })]],
  ['over', supply(), [phase({ endsAt: at(-1) })]],
] as const)('a sale is %s', (state, of, phases) => {
  expect(saleStateAt(of, phases, now)).toBe(state);
});

test('the next change is the first future moment', () => {
  const phases = [phase({ startsAt: at(-5), endsAt: at(30) }), phase({ startsAt: at(9) })];
  expect(nextChange(phases, now)).toEqual(at(9));
  expect(nextChange([phase({ endsAt: now })], now)).toBeNull();
});

test('a sale of public phases is open exactly where an order of one item gets a phase', () => {
  const moment = fc.option(fc.integer({ min: -2, max: 2 }).map(at));
  const phases = fc.array(
    fc.record({
      startsAt: moment,
      endsAt: moment,
      items: fc.option(fc.integer({ min: 1, max: 3 })),
      taken: fc.nat(3),
    }),
    { maxLength: 4 },
  );
  fc.assert(
    fc.property(phases, fc.nat(10), (given, taken) => {
      const all = given.map((one, place) =>
        phase({ ...one, taken: Math.min(one.taken, one.items ?? 3), phase: String(place), place }),
      );
      const chosen = choosePhase(
        { price: 1n, free: 10 - taken, phases: all },
        { count: 1, allowances: [], now },
      );
      // unpaid items may become free again, so the sale is not sold out here
      const state = saleStateAt(supply({ taken, unpaid: 1 }), all, now);
      expect(state === 'open').toBe(chosen.kind === 'phase');
      for (const one of all) expect(leftInPhase(one, 10 - taken)).toBeLessThanOrEqual(10 - taken);
    }),
  );
});

describe('a cheaper phase with too little left', () => {
  const dear = phase({ phase: 'public', price: 9n, place: 1 });
  const chosen = (phases: readonly Phase[], allowed: number | null = null, count = 3) =>
    choosePhase(
      { price: 9n, free: 10, phases },
      { count, allowances: allowed === null ? [] : [{ phase: 'list', items: allowed, paid: 1 }], now },
    );
  const list = phase({ phase: 'list', price: 2n, isPublic: false });

  test.each([
    ['allows some', [list, dear], 3, { phase: 'list', price: 2n, items: 2 }],
    ['allows all', [list, dear], 4, null],
    ['allows no more', [list, dear], 1, null],
    ['does not list the address', [list, dear], null, null],
    [
      'has some',
      [phase({ price: 2n, items: 5, taken: 3 }), dear],
      null,
      { phase: 'one', price: 2n, items: 2 },
    ],
    ['has no more', [phase({ price: 2n, items: 5, taken: 5 }), dear], null, null],
    ['is not open', [{ ...list, startsAt: at(1) }, dear], 3, null],
    ['is not cheaper', [{ ...list, price: 9n }, dear], 3, null],
  ])('%s', (_case, phases, allowed, cheaper) => {
    expect(chosen(phases, allowed)).toMatchObject({ kind: 'phase', cheaper });
  });
});
