import { describe, expect, test } from 'vitest';
import { checkoutView } from '#http/tokenpay/checkout-view.ts';
import { asTxid } from '#kernel/primitives/hash.ts';
import { customerAddress } from '#test/support/psbts/customer-address.ts';
import type { Checkout } from '#tokenpay/checkout.ts';
import type { MissingPart } from '#tokenpay/open-token-order.ts';
import type { TokenOrderState } from '#tokenpay/order/charge-state.ts';
import type { ChargeKind } from '#tokenpay/order/token-order.ts';
import { checkoutPage } from '#web/pages/checkout.page.ts';

const expiresAt = new Date(1_764_000_000_000);
const [before, after] = [-1, 1].map((ms) => new Date(expiresAt.getTime() + ms)) as [Date, Date];
const place = { site: null, network: 'regtest' };

/** A charge: how much of its 250 is missing, and the payment that waits for a block. */
interface Part {
  readonly missing?: bigint;
  readonly seen?: MissingPart['seen'];
}

interface Given {
  readonly state?: TokenOrderState;
  readonly token?: Part;
  readonly fee?: Part;
  readonly name?: string;
  readonly symbol?: string;
  readonly isEtchedAgain?: boolean;
}

const [inTime, tooLate] = [true, false].map((isInTime) => ({ confirmations: 1, isInTime })) as [
  NonNullable<MissingPart['seen']>,
  NonNullable<MissingPart['seen']>,
];
const none: Part = { missing: 0n };

function checkoutOf({
  state = 'pending',
  name = 'GOODS',
  symbol,
  isEtchedAgain = false,
  ...given
}: Given): Checkout {
  const parts = { token: given.token ?? {}, fee: given.fee ?? {} };
  const chargeOf = (kind: ChargeKind) => ({
    kind,
    amount: 250n,
    address: `address-of-${kind}`,
    script: new Uint8Array(),
    keyIndex: 0,
    state: parts[kind].missing === 0n ? ('completed' as const) : ('pending_payment' as const),
    txid: (parts[kind].seen ?? null) === null ? null : asTxid(new Uint8Array(32).fill(0xab)),
  });
  const missingOf = ({ missing = 250n, seen = null }: Part): MissingPart => ({
    amount: missing,
    script: customerAddress(950, 'p2wpkh').script,
    seen,
  });
  return {
    order: {
      id: 'id',
      account: 'private account',
      createdAt: before,
      expiresAt,
      endsAt: expiresAt,
      state,
      rune: { asset: 1, etching: asTxid(new Uint8Array(32)), name, divisibility: 2 },
      baseFee: 250n,
      additionalFee: 0n,
      description: 'private note',
      webhookUrl: 'https://private.example/',
      successUrl: 'https://shop.example/',
      secretKey: null,
      inscription: null,
      charges: { fee: chargeOf('fee'), token: chargeOf('token') },
    },
    missing: { fee: missingOf(parts.fee), token: missingOf(parts.token) },
    confirmations: { fee: 2, token: 6 },
    symbol: symbol ?? null,
    isEtchedAgain,
  };
}

const pageOf = (given: Given, now = before): string =>
  checkoutPage(checkoutView(checkoutOf(given), now, place)).text;

const both = (part: Part): Given => ({ token: part, fee: part });

describe('an order in each state', () => {
  test.each<[string, Given, Date, string, string, string, string]>([
    ['nothing came', {}, before, 'open', 'open', 'open', 'Waiting for both payments'],
    [
      'a part is credited',
      { token: { missing: 100n } },
      before,
      'open',
      'partly',
      'open',
      'Waiting for both',
    ],
    ['the token is paid', { token: none }, before, 'open', 'paid', 'open', 'The fee is missing'],
    ['the fee is paid', { fee: none }, before, 'open', 'open', 'paid', 'The token is missing'],
    ['the token waits', { token: { seen: inTime } }, before, 'open', 'seen', 'open', 'The fee is missing'],
    ['both wait', both({ seen: inTime }), before, 'waiting', 'seen', 'seen', 'nothing more to pay'],
    ['time is over, both wait', both({ seen: inTime }), after, 'closing', 'seen', 'seen', 'seen in time'],
    [
      'time is over, one waits',
      { fee: { seen: inTime } },
      after,
      'closing',
      'over',
      'seen',
      'the other is missing',
    ],
    ['the time is over', {}, after, 'closing', 'over', 'over', 'do not pay this order'],
    ['all came', { state: 'completed', ...both(none) }, after, 'completed', 'paid', 'paid', 'is completed'],
    ['it ended in error', { state: 'error' }, before, 'over', 'over', 'over', 'Ask the shop'],
    [
      'the rune is gone',
      { isEtchedAgain: true },
      before,
      'etched-again',
      'unasked',
      'unasked',
      'was etched again',
    ],
    [
      'the rune is gone, and the fee waits',
      { isEtchedAgain: true, fee: { seen: inTime } },
      before,
      'etched-again',
      'unasked',
      'seen',
      'do not pay this order',
    ],
    ['late', { state: 'error', token: { seen: tooLate } }, after, 'over', 'late', 'over', 'Ask the shop'],
  ])('%s', (_name, given, now, state, token, fee, words) => {
    const view = checkoutView(checkoutOf(given), now, place);
    expect([view.state, view.token.state, view.fee.state]).toEqual([state, token, fee]);
    const page = checkoutPage(view).text;
    expect(page).toContain(words);
    // the page has a code and a link only if it requests money
    const isAsked = [token, fee].map((each) => each === 'open' || each === 'partly');
    expect([
      page.includes('data-qr="address-of-token"'),
      page.includes('data-qr="bitcoin:address-of-fee'),
    ]).toEqual(isAsked);
    expect([
      page.includes('href="bitcoin:address-of-token?message='),
      page.includes('href="bitcoin:address-of-fee?amount='),
    ]).toEqual(isAsked);
    // Charges that are seen or paid keep their address. An address that should no longer be paid is not shown.
    for (const [name, shown] of [
      ['token', token],
      ['fee', fee],
    ])
      expect(page.includes(`address-of-${name}`)).toBe(!['over', 'late', 'unasked'].includes(shown!));
    for (const hidden of ['private', 'webhook']) expect(page).not.toContain(hidden);
    expect(page.includes('href="https://shop.example/"')).toBe(state === 'completed');
  });
});

test('confirmations are those that each charge needs, and never more', () => {
  const seen = (confirmations: number): Given => both({ seen: { confirmations, isInTime: true } });
  const [none_, one, many] = [0, 1, 9].map((count) => pageOf(seen(count))) as [string, string, string];
  for (const words of [
    'Seen, in no block yet: 0 of 6 confirmations',
    'Seen, in no block yet: 0 of 2 confirmations',
  ])
    expect(none_).toContain(words);
  for (const words of ['Seen: 1 of 6 confirmations', 'Seen: 1 of 2 confirmations'])
    expect(one).toContain(words);
  for (const words of ['Seen: 6 of 6 confirmations', 'Seen: 2 of 2 confirmations'])
    expect(many).toContain(words);
  expect(one).toContain(`/tx/${'ab'.repeat(32)}`);
});

test('a PSBT is made for the missing part, but not while a payment waits or the time is over', () => {
  const payOf = (given: Given, now = before): unknown => {
    const found = /data-pay="([^"]*)"/u.exec(pageOf(given, now))?.[1] ?? null;
    return found === null ? null : JSON.parse(found.replaceAll('&quot;', '"'));
  };
  const token = { address: 'address-of-token', units: '2.5' };
  const fee = { address: 'address-of-fee', sats: 294 };
  expect(payOf({})).toEqual({ token, fee });
  expect(payOf({ token: none })).toEqual({ token: null, fee });
  expect(payOf({ token: { missing: 5n } })).toEqual({ token: { ...token, units: '0.05' }, fee });
  expect(payOf({ token: { seen: inTime } })).toBeNull();
  expect(payOf({}, after)).toBeNull();
  expect(payOf({ isEtchedAgain: true })).toBeNull();
});

test('a rune whose name another one has is shown with its etching', () => {
  expect(pageOf({ isEtchedAgain: true })).toContain(`2.5 GOODS (etching ${'0'.repeat(64)})`);
  expect(pageOf({})).not.toContain('etching');
});

test('amounts are exact, what arrived is shown, and hostile names and symbols are texts', () => {
  const given = { ...both({ missing: 105n }), name: '<img src=x>', symbol: '\u202e' };
  const view = checkoutView(checkoutOf(given), before, place);
  expect([view.token.missing, view.token.arrived, view.fee.missing]).toEqual([
    '1.05 <img src=x>',
    '1.45 <img src=x>',
    '105 sats',
  ]);
  const { text } = checkoutPage(view);
  expect([text.includes('<img src=x>'), text.includes('&lt;img src=x&gt;')]).toEqual([false, true]);
  expect([text.includes('\u202e'), text.includes('U+202E')]).toEqual([false, true]);
  expect(text).toContain('data-copy="1.05"');
  expect(text).toContain('data-copy="0.00000294"');
  expect(pageOf({ symbol: '⧉' })).toContain('2.5 GOODS <bdi>⧉</bdi>');
});

test.each([
  [1n, 294, '1 sat is missing, but wallets send at least 294 sats: the shop keeps the difference.'],
  [100n, 294, '100 sats are missing, but wallets send at least 294 sats: the shop keeps the difference.'],
  [293n, 294, '293 sats are missing, but wallets send at least 294 sats'],
  [294n, 294, null],
  [295n, 295, null],
])('if %s sats of the fee are missing, %s are asked for', (missing, sent, words) => {
  const page = pageOf({ fee: { missing } });
  const link = `bitcoin:address-of-fee?amount=0.00000${sent}`;
  for (const asked of [
    `href="${link}"`,
    `data-qr="${link}"`,
    `<b class="amount">${sent} sats</b>`,
    `data-copy="${sent}"`,
    `data-copy="0.00000${sent}"`,
    `&quot;sats&quot;:${sent}`,
  ])
    expect(page).toContain(asked);
  if (words === null) expect(page).not.toContain('wallets send at least');
  else expect(page).toContain(words);
});
