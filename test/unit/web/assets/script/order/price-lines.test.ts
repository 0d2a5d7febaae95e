import fc from 'fast-check';
import { expect, test } from 'vitest';
import { propertyRuns } from '#test/support/property-runs.ts';
import { priceLines, priceWarnings, uncurseOffer } from '#web/assets/script/order/price-lines.js';

const fees = {
  chainFee: 1605,
  baseFee: 2000,
  sizeFee: 0,
  rareSatsFee: 0,
  collectionServiceFee: 0,
  price: 0,
  additionalFeeCharged: 0,
  postage: 546,
  count: 6,
};
const price = { ...fees, amount: 1605 + 6 * 2546 };
const vindicated = {
  code: 'vindicated',
  message: '5 inscriptions would have been cursed before the jubilee: ord numbers them like others.',
};

test('the lines of a price add up to its amount', () => {
  const sats = fc.nat({ max: 1_000_000 });
  fc.assert(
    fc.property(
      sats,
      sats,
      sats,
      sats,
      fc.integer({ min: 1, max: 10_000 }),
      (chainFee, baseFee, sizeFee, rareSatsFee, count) => {
        const amount = chainFee + sizeFee + (baseFee + rareSatsFee + 546) * count;
        const lines = priceLines({ ...fees, chainFee, baseFee, sizeFee, rareSatsFee, count, amount });
        expect(lines.reduce((sum, line) => sum + line.sats, 0)).toBe(amount);
      },
    ),
    { numRuns: propertyRuns(100) },
  );
});

test('vindicated inscriptions are counted, with the cost of one reveal each', () => {
  const given = { ...price, warnings: [vindicated] };
  expect(uncurseOffer(given, { ...price, amount: price.amount + 1200 })).toBe(
    '5 of 6 will be vindicated: one reveal each costs 1,200 sats more.',
  );
  expect(uncurseOffer(given, price)).toMatch(/costs the same\.$/u);
  expect(uncurseOffer(price, price)).toBeNull();
});

test('sizes in place of contents give no warning, but a missing address does', () => {
  const assumed = { code: 'assumed', message: 'The price does not have the content of files[0].' };
  const given = { ...price, warnings: [assumed, vindicated] };
  expect(priceWarnings(given, true)).toEqual([vindicated.message]);
  expect(priceWarnings(given, true, true)).toEqual([]);
  expect(priceWarnings(given, false)[0]).toMatch(/longest type of address/u);
});
