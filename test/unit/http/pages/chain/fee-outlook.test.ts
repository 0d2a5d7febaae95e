import { expect, test } from 'vitest';
import { feeOutlook, nextBlockOutlook } from '#http/pages/chain/fee-outlook.ts';

const fees = { fastestFee: 20, halfHourFee: 10, hourFee: 5, economyFee: 3, minimumFee: 1 };

test('the wait of a fee rate follows the estimates of the node', () => {
  const words = [20, 19.9, 5, 3, 1, 0.5].map((rate) => feeOutlook(rate, fees));
  expect(words).toEqual([
    'its fee rate is enough for the next two blocks by the node’s estimate (20 sat/vB)',
    'its fee rate is enough for half an hour by the node’s estimate (10 sat/vB)',
    'its fee rate is enough for an hour by the node’s estimate (5 sat/vB)',
    'its fee rate is enough for a day by the node’s estimate (3 sat/vB)',
    'its fee rate is below the estimate for a day (3 sat/vB), so it may wait long',
    'its fee rate is below the node’s minimum (1 sat/vB)',
  ]);
});

test('the next block has all pending transactions if they fit', () => {
  const outlook = (count: number, vsize: number, paying = 0): string =>
    nextBlockOutlook({ count, paying, countedMax: 10_000 }, fees, vsize);
  expect(outlook(0, 0)).toBe('all pending transactions fit into it');
  expect(outlook(1, 998_000)).toBe('all pending transactions fit into it, with 1 inscription');
  expect(outlook(1_200, 998_000)).toBe('all pending transactions fit into it, with 1,200 inscriptions');
  expect(outlook(10_001, 998_000)).toBe(
    'all pending transactions fit into it, with 10,000 or more inscriptions',
  );
});

test('otherwise it has those that pay the rate of the next two blocks', () => {
  const outlook = (count: number, paying: number): string =>
    nextBlockOutlook({ count, paying, countedMax: 10_000 }, fees, 998_001);
  const rest = 'for the next two (20 sat/vB or more by the node’s estimate)';
  expect(outlook(1, 0)).toBe(`0 of 1 pending inscription pays ${rest}`);
  expect(outlook(1_200, 7)).toBe(`7 of 1,200 pending inscriptions pay ${rest}`);
  expect(outlook(10_001, 10_001)).toBe(`10,000 of the first 10,000 pending inscriptions pay ${rest}`);
});
