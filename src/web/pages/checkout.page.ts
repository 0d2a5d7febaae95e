import { grouped, timeWords } from '#web/format.ts';
import { html, type Markup } from '#web/html.ts';
import { layout, type Site } from '#web/layout.ts';

/** How far a charge is, for its payer. `seen`: how much a payment brings is not known until it is credited. */
export type CheckoutChargeState = 'open' | 'partly' | 'seen' | 'paid' | 'over';

export interface CheckoutCharge {
  readonly state: CheckoutChargeState;
  readonly address: string;
  /** In words with its unit, as `2.5 UNCOMMON•GOODS`. */
  readonly asked: string;
  readonly missing: string;
}

export interface CheckoutView {
  readonly site: Site | null;
  readonly state: 'open' | 'completed' | 'over';
  readonly token: CheckoutCharge;
  readonly fee: CheckoutCharge & { readonly missingSats: bigint };
  /** Unix seconds. */
  readonly expiresAt: number;
  /** An http or https URL of the shop; null: it named none. */
  readonly successUrl: string | null;
}

/** The page on which the customer of a shop pays. It shows nothing that a payer does not need. */
export function checkoutPage(view: CheckoutView): Markup {
  const { site, state, token, fee, successUrl } = view;
  return layout({
    title: 'Checkout · Satscribe',
    description: 'What to pay, where to, and how much of it arrived.',
    site,
    scripts: ['order/checkout-page.js'],
    main: html`<h1>Checkout</h1>
<article id="checkout" class="order" data-state="${state}">
<section class="state card-box"><p><b>${stateWords[state]}</b></p>
${state === 'open' && html`<p>Pay until ${timeWords(view.expiresAt)}. What is sent later goes to the shop, and does not complete this order.</p>`}
${state === 'completed' && successUrl !== null && html`<p><a class="button primary" href="${successUrl}" rel="noopener noreferrer nofollow">Back to the shop</a></p>`}
</section>
${charge('Token', token, state === 'open' && html`<p>Send it from a wallet for runes. Sats alone, or another rune, do not pay this part.</p>`)}
${charge('Fee', fee, isPayable(fee) && html`<p><a class="button primary" href="bitcoin:${fee.address}?amount=${coins(fee.missingSats)}">Open in a wallet</a></p>`)}
</article>
<noscript><p class="notice">Without scripts, reload this page to see what arrived.</p></noscript>`,
  });
}

const stateWords = {
  open: 'Waiting for both payments',
  completed: 'Paid: the order is completed',
  over: 'The time is over: do not pay this order any more',
} as const;

const chargeWords: Readonly<Record<CheckoutChargeState, string>> = {
  open: 'Not paid yet',
  partly: 'Partly paid',
  seen: 'A payment was seen, and waits for confirmations: do not pay again',
  paid: 'Paid',
  over: 'Not paid in time',
};

const isPayable = ({ state }: CheckoutCharge): boolean => state === 'open' || state === 'partly';

function charge(title: string, shown: CheckoutCharge, hint: Markup | false): Markup {
  const { state, address, asked, missing } = shown;
  return html`<section><h2>${title}</h2>
<dl class="pairs"><dt>State</dt><dd>${chargeWords[state]}</dd><dt>Asked</dt><dd class="wrap">${asked}</dd>
${isPayable(shown) && html`<dt>Still to pay</dt><dd class="wrap"><b class="amount">${missing}</b></dd><dt>Address</dt><dd class="mono wrap">${address}</dd>`}</dl>
${isPayable(shown) && hint}</section>`;
}

const satsPerCoin = 100_000_000n;

/** Sats as BIP 21 has them, in coins with all decimals. */
const coins = (sats: bigint): string =>
  `${sats / satsPerCoin}.${String(sats % satsPerCoin).padStart(8, '0')}`;

/** Sats in words. */
export const feeWords = (sats: bigint): string => `${grouped(Number(sats))} ${sats === 1n ? 'sat' : 'sats'}`;
