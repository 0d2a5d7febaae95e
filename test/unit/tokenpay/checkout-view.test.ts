import { expect, test } from 'vitest';
import { checkoutView } from '#http/tokenpay/checkout-view.ts';
import type { OpenTokenOrder } from '#tokenpay/open-token-order.ts';
import type { ChargeState, TokenOrderState } from '#tokenpay/order/charge-state.ts';
import type { ChargeKind } from '#tokenpay/order/token-order.ts';
import { checkoutPage } from '#web/pages/checkout.page.ts';

const expiresAt = new Date(1_764_000_000_000);
const [before, after] = [-1, 1].map((ms) => new Date(expiresAt.getTime() + ms)) as [Date, Date];

interface Given {
  readonly state?: TokenOrderState;
  readonly charge?: ChargeState;
  readonly missing?: bigint;
  readonly isSeen?: boolean;
  readonly name?: string;
}

function orderOf({
  state = 'pending',
  charge = 'pending_payment',
  missing = 250n,
  ...more
}: Given): OpenTokenOrder {
  const { isSeen = false, name = 'GOODS' } = more;
  const chargeOf = (kind: ChargeKind) => ({
    kind,
    amount: 250n,
    address: `address-of-${kind}`,
    script: new Uint8Array(),
    keyIndex: 0,
    state: charge,
    txid: null,
  });
  const part = { amount: missing, script: new Uint8Array(), isSeen };
  return {
    order: {
      id: 'id',
      account: 'account',
      createdAt: before,
      expiresAt,
      endsAt: expiresAt,
      state,
      rune: { asset: 1, name, divisibility: 2 },
      baseFee: 250n,
      additionalFee: 0n,
      description: 'private',
      webhookUrl: null,
      successUrl: 'https://shop.example/',
      secretKey: null,
      charges: { fee: chargeOf('fee'), token: chargeOf('token') },
    },
    missing: { fee: part, token: part },
  };
}

test.each<[string, Given, Date, string, string]>([
  ['nothing came', {}, before, 'open', 'open'],
  ['a part is credited', { missing: 100n }, before, 'open', 'partly'],
  ['a payment waits', { isSeen: true, charge: 'payment_seen' }, before, 'open', 'seen'],
  ['a payment that came in time waits', { isSeen: true, charge: 'payment_seen' }, after, 'open', 'seen'],
  ['all is credited', { missing: 0n, charge: 'completed', state: 'completed' }, after, 'completed', 'paid'],
  ['the time is over', {}, after, 'over', 'over'],
  ['it ended as an error', { state: 'error', charge: 'expired' }, before, 'over', 'over'],
])('%s', (_name, given, now, state, charge) => {
  const view = checkoutView(orderOf(given), now, null);
  expect([view.state, view.token.state, view.fee.state]).toEqual([state, charge, charge]);
  const isPayable = charge === 'open' || charge === 'partly';
  expect(checkoutPage(view).text.includes('address-of-token')).toBe(isPayable);
  expect(checkoutPage(view).text.includes('href="bitcoin:address-of-fee')).toBe(isPayable);
});

test('amounts are exact, and a hostile name is text', () => {
  const view = checkoutView(orderOf({ missing: 105n, name: '<img src=x>' }), before, null);
  expect([view.token.missing, view.fee.missing]).toEqual(['1.05 <img src=x>', '105 sats']);
  const { text } = checkoutPage(view);
  expect([text.includes('<img src=x>'), text.includes('&lt;img src=x&gt;')]).toEqual([false, true]);
});
