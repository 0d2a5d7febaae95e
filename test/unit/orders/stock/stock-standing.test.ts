import { expect, test } from 'vitest';
import type { OutputStanding } from '#chain/sats/output-standing.queries.ts';
import { asHeight, type Height } from '#kernel/primitives/height.ts';
import { isLost, type StockStanding, standingOfAll, stockStanding } from '#orders/stock/stock-standing.ts';

const reserved = { sat: 5_000, place: 10, height: asHeight(100), isReleased: false };
const tip: Height = asHeight(120);
const known: OutputStanding = {
  tip,
  hasSats: true,
  isRevealed: false,
  hasBlock: true,
  ranges: [{ start: 4_990, end: 5_100 }],
  isSpentDeep: false,
};

test.each<[string, ReturnType<typeof stockStanding>, Partial<typeof reserved>, Partial<OutputStanding>]>([
  ['unspent with the sat in its place', 'here', {}, {}],
  ['spent by the order itself', 'here', {}, { isRevealed: true, hasSats: false, ranges: null }],
  ['with another sat in its place', 'gone', { place: 11 }, {}],
  ['spent by another transaction', 'gone', {}, { ranges: null }],
  ['released', 'gone', { isReleased: true }, {}],
  [
    'taken out of the chain, five blocks ago',
    'away',
    {},
    { hasBlock: false, ranges: null, tip: asHeight(105) },
  ],
  [
    'taken out of the chain, six blocks ago',
    'gone',
    {},
    { hasBlock: false, ranges: null, tip: asHeight(106) },
  ],
  ['of an empty index', 'away', {}, { hasBlock: false, ranges: null, tip: null }],
  ['of an index that does not know the sats yet', 'away', {}, { hasSats: false, ranges: null }],
  [
    'released, of an index that does not know',
    'gone',
    { isReleased: true },
    { hasSats: false, ranges: null },
  ],
])('an output of the inventory that is %s is %s', (_name, standing, reservation, stock) => {
  expect(stockStanding({ ...reserved, ...reservation }, { ...known, ...stock })).toBe(standing);
});

test.each<[StockStanding, StockStanding[]]>([
  ['here', ['here', 'here', 'here']],
  ['away', ['here', 'away', 'here']],
  ['gone', ['away', 'here', 'gone']],
])('several sats are %s if they are %j', (standing, each) => {
  expect(standingOfAll(each)).toBe(standing);
});

test.each<[string, boolean, Partial<typeof reserved>, Partial<OutputStanding>]>([
  ['spent, and six blocks follow', true, {}, { ranges: null, isSpentDeep: true }],
  ['spent in one of the newest blocks', false, {}, { ranges: null }],
  ['spent by the order itself', false, {}, { ranges: null, isSpentDeep: true, isRevealed: true }],
  ['unspent with another sat in its place', false, { place: 11 }, {}],
  ['released', false, { isReleased: true }, { ranges: null, isSpentDeep: true }],
  ['not known', false, {}, { ranges: null, isSpentDeep: true, hasSats: false }],
  [
    'taken out of the chain five blocks ago',
    false,
    {},
    { hasBlock: false, ranges: null, isSpentDeep: true, tip: asHeight(105) },
  ],
  [
    'taken out of the chain six blocks ago',
    true,
    {},
    { hasBlock: false, ranges: null, isSpentDeep: true, tip: asHeight(106) },
  ],
])('a sat in an output that is %s is lost for good: %s', (_, lost, reservation, standing) => {
  expect(isLost({ ...reserved, ...reservation }, { ...known, ...standing })).toBe(lost);
});
