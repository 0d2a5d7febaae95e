import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { bitcoinOf, type ChargedOrder, managedCharge, onlyParent } from '#orders/customers/managed-answer.ts';
import { propertyRuns } from '#test/support/property-runs.ts';

const createdAt = new Date(1_764_000_000_500);
const order = {
  id: '6f1c2b1e-5a0e-4c55-9d0c-0b8f7f0b9a11',
  address: 'bcrt1pmanaged',
  amount: 20_995n,
  quote: {},
  terms: {},
  createdAt,
  // The order was stored a second after the check, so the shown timeout is one second more.
  expiresAt: new Date(createdAt.getTime() + 4320 * 60_000 - 1000),
} as ChargedOrder;

test('any amount in bitcoin is exact, and has no trailing zeros', () => {
  expect([1n, 100_000_000n, 150_000_000n, 20_995n, 0n].map(bitcoinOf)).toEqual([
    '0.00000001',
    '1',
    '1.5',
    '0.00020995',
    '0',
  ]);
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 2_100_000_000_000_000n }), (sats) => {
      const [whole = '', decimals = ''] = bitcoinOf(sats).split('.');
      expect(BigInt(whole + decimals.padEnd(8, '0'))).toBe(sats);
      expect(decimals.endsWith('0')).toBe(false);
    }),
    { numRuns: propertyRuns(200) },
  );
});

describe('the charge of a managed order', () => {
  test('has no dollars without a rate, and its uri does not name the order', () => {
    const charge = managedCharge(order, 'https://orders.test');
    expect(charge).not.toHaveProperty('fiat_value');
    expect(charge).toMatchObject({ status: 'unpaid', created_at: 1_764_000_000, ttl: 4320, amount: 20_995 });
    expect(charge['uri']).toBe('bitcoin:bcrt1pmanaged?amount=0.00020995&label=Inscription%20order');
    expect(String(charge['uri'])).not.toContain(order.id);
  });

  test.each([
    [{ etching: {} }, 'Rune etching order'],
    [{ mint: { count: 3 } }, 'Rune mint order'],
  ])('names the goods, as a label for wallets: %j', (terms, description) => {
    const charge = managedCharge({ ...order, terms } as unknown as ChargedOrder, 'https://orders.test');
    expect(charge['description']).toBe(description);
    expect(charge['uri']).toContain(`&label=${encodeURIComponent(description)}`);
  });

  test('has the page of the order, whose id is in the fragment alone', () => {
    const { hosted_checkout_url: page } = managedCharge(order, 'https://orders.test');
    expect(page).toBe(`https://orders.test/order#${order.id}`);
  });

  test('shows the dollars of its creation', () => {
    expect(
      managedCharge({ ...order, quote: { ...order.quote, fiatValue: 19.15 } }, 'https://orders.test'),
    ).toMatchObject({
      fiat_value: 19.15,
    });
  });
});

test('the only parent is also shown by itself', () => {
  expect([onlyParent(null), onlyParent([]), onlyParent(['one']), onlyParent(['one', 'two'])]).toEqual([
    null,
    null,
    'one',
    null,
  ]);
});
