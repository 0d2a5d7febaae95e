import { expect, test } from 'vitest';
import type { OutputStanding } from '#chain/sats/output-standing.queries.ts';
import { asHeight, type Height } from '#kernel/primitives/height.ts';
import { type StockStanding, standingOfAll, stockStanding } from '#orders/stock/stock-standing.ts';

const reserved = { sat: 5_000, place: 10, height: asHeight(100), isReleased: false };
const tip: Height = asHeight(120);
const known: OutputStanding = {
  tip,
  hasSats: true,
  isRevealed: false,
  hasBlock: true,
  ranges: [{ start: 4_990, end: 5_100 }],
};

test.each<[string, ReturnType<typeof stockStanding>, Partial<typeof reserved>, Partial<OutputStanding>]>([
  ['unspent with the sat in its place', 'here', {}, {}],
  ['spent by the order itself', 'here', {}, { isRevealed: true, hasSats: false, ranges: null }],
  ['with another sat in its place', 'gone', { place: 11 }, {}],
  ['spent by somebody else', 'gone', {}, { ranges: null }],
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
])('of several sats the standing is %s where they are %j', (standing, each) => {
  expect(standingOfAll(each)).toBe(standing);
});
