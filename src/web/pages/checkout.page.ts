import { grouped } from '#web/format.ts';
import { type HtmlValue, html, type Markup } from '#web/html.ts';
import { layout, type Site } from '#web/layout.ts';
import { copyButton, transactionLink } from '#web/parts/identifiers.ts';
import { moment } from '#web/parts/moment.ts';
import { runeSymbol } from '#web/parts/strangers-text.ts';

/**
 * State of a charge, for its payer. `open`: nothing arrived yet. `partly`: a part arrived. `seen`: a payment was seen,
 * but its amount is unknown until it is credited. `late`: a payment was seen, but it can no longer complete the order.
 * `over`: the time to pay has ended. `unasked`: the charge is no longer needed, because the rune was etched again.
 */
export type CheckoutChargeState = 'open' | 'partly' | 'seen' | 'late' | 'paid' | 'over' | 'unasked';

/**
 * State of the checkout. `waiting`: nothing must be paid now. `closing`: the time to pay has ended, but the order has
 * not ended yet. `over`: the order ended without full payment. `etched-again`: the rune no longer exists, and another
 * rune has its name.
 */
export type CheckoutState = 'open' | 'waiting' | 'closing' | 'completed' | 'over' | 'etched-again';

export interface CheckoutCharge {
  readonly state: CheckoutChargeState;
  readonly address: string;
  /** The charge in words with its unit, such as `2.5 UNCOMMON•GOODS`. */
  readonly asked: string;
  readonly missing: string;
  /** The amount that arrived. `null` if nothing or the complete charge arrived. */
  readonly arrived: string | null;
  /** Confirmations of the waiting payment. `null` if no payment is waiting. */
  readonly confirmations: { readonly count: number; readonly needed: number } | null;
  /** The transaction of the first payment that was seen. `null` if no payment was seen. */
  readonly txid: string | null;
}

export interface CheckoutView {
  readonly site: Site | null;
  readonly network: string;
  readonly state: CheckoutState;
  readonly token: CheckoutCharge & {
    /** The name of the rune. If another rune has the same name, this text also names the rune's etching. */
    readonly name: string;
    readonly symbol: string | null;
    /** Missing units in digits only, because wallets take amounts in this form. */
    readonly missingUnits: string;
  };
  readonly fee: CheckoutCharge & {
    readonly missingSats: bigint;
    /** Sats to send for the missing fee, at least the minimum that a wallet can send. 0 if nothing is missing. */
    readonly sentSats: bigint;
  };
  readonly expiresAt: Date;
  /** An http or https URL of the shop. `null` if the shop gave no URL. */
  readonly successUrl: string | null;
}

/** The page on which the customer of a shop pays. It shows only facts that a payer needs. */
export function checkoutPage(view: CheckoutView): Markup {
  const { site, state, successUrl } = view;
  const pay = signedPayment(view);
  return layout({
    title: 'Checkout · Satscribe',
    description: 'The amount to pay, the address, and the part that has arrived.',
    site,
    scripts: ['order/checkout-page.js'],
    takesFiles: true,
    main: html`<h1>Checkout</h1>
<article id="checkout" class="order" data-state="${state}" data-network="${view.network}"${pay !== null && html` data-pay="${pay}"`}>
<section class="state card-box"><div data-part="state" aria-live="polite">${toldState(view)}</div>
<div data-part="time">${state === 'open' && html`<p>Time to pay: until ${moment(view.expiresAt)}</p>`}</div>
<div data-part="shop">${state === 'completed' && successUrl !== null && html`<p><a class="button primary" href="${successUrl}" rel="noopener noreferrer nofollow">Back to the shop</a></p>`}</div>
</section>
<p id="trouble" class="said" role="status"></p>
<p id="said" class="said" role="status"></p>
<section data-part="token">${tokenPart(view)}</section>
<section data-part="fee">${feePart(view)}</section>
<section id="wallet" hidden></section>
</article>
<noscript><p class="notice">Without scripts, reload this page to see new payments.</p></noscript>`,
  });
}

/**
 * The payment for which this service makes a PSBT, as JSON for the page's script. `null` if no PSBT can be made now,
 * for example because a payment of unknown amount is not credited yet.
 */
function signedPayment({ state, token, fee }: CheckoutView): string | null {
  if (state !== 'open' || token.state === 'seen' || fee.state === 'seen') return null;
  return JSON.stringify({
    token: isPayable(token) ? { address: token.address, units: token.missingUnits } : null,
    fee: isPayable(fee) ? { address: fee.address, sats: Number(fee.sentSats) } : null,
  });
}

/** The tone of a state (order.css), the state's title, and the consequence for the reader. */
type ToldState = readonly [tone: string, title: string, words: string];

function toldState(view: CheckoutView): Markup {
  const [tone, title, words] = tellState(view);
  return html`<p class="tone ${tone}"><b>${title}</b></p>${words !== '' && html`<p>${words}</p>`}`;
}

function tellState({ state, token, fee }: CheckoutView): ToldState {
  const told: Readonly<Record<CheckoutState, () => ToldState>> = {
    completed: () => ['done', 'Paid: the order is completed', ''],
    waiting: () => ['wait', 'Payment seen', 'It waits for confirmations. There is nothing more to pay.'],
    closing: () => tellClosing([token, fee]),
    over: () => [
      'over',
      'The order ended without a full payment: do not pay it',
      'All payments, also later ones, go to the shop. Ask the shop for a new order, or for a refund.',
    ],
    'etched-again': () => [
      'halted',
      'The rune of this order was etched again: do not pay this order',
      'A reorganisation removed its etching from the chain, and another transaction has its name now. All payments go to the shop. Ask the shop for a new order, or for a refund.',
    ],
    open: () => {
      const open = [token, fee].filter(isPayable);
      const [only] = open;
      return open.length === 2 || only === undefined
        ? [
            'pay',
            'Waiting for both payments',
            'The token and the fee go to two addresses, in one transaction or in two.',
          ]
        : ['pay', only === fee ? 'The fee is missing' : 'The token is missing', 'The other payment arrived.'];
    },
  };
  return told[state]();
}

function tellClosing(charges: readonly CheckoutCharge[]): ToldState {
  const isMissing = charges.some(({ state }) => state === 'over' || state === 'late');
  if (!isMissing)
    return [
      'wait',
      'Payment seen in time',
      'The time to pay is over, but your payment was sent in time. It waits for confirmations: do not send more.',
    ];
  const isWaiting = charges.some(({ state }) => state === 'seen');
  return [
    'halted',
    'The time to pay is over: do not pay this order',
    isWaiting
      ? 'One payment was sent in time and waits for confirmations, but the other is missing. The order cannot be completed: ask the shop.'
      : 'All payments go to the shop. Ask the shop for a new order, or for a refund.',
  ];
}

/** Whether a charge must still be paid. */
export const isPayable = ({ state }: Pick<CheckoutCharge, 'state'>): boolean =>
  state === 'open' || state === 'partly';

const chargeWords: Readonly<Record<Exclude<CheckoutChargeState, 'seen'>, string>> = {
  open: 'Not paid yet',
  partly: 'Partly paid',
  late: 'A payment arrived that cannot complete this order: it goes to the shop',
  paid: 'Paid',
  over: 'Not paid in time',
  unasked: 'No longer needed',
};

function stateWords({ state, confirmations }: CheckoutCharge): string {
  if (state !== 'seen') return chargeWords[state];
  const { count, needed } = confirmations ?? { count: 0, needed: 1 };
  const depth = `${count} of ${needed} ${needed === 1 ? 'confirmation' : 'confirmations'}`;
  return `Seen${count === 0 ? ', in no block yet' : ''}: ${depth}. Do not pay it again.`;
}

const copied = (shown: HtmlValue, text: string): Markup =>
  html`<span class="copied">${shown}${copyButton(text)}</span>`;

/** The facts of a charge. If the charge must be paid, also a QR code. */
function charge(shown: CheckoutCharge, words: (text: string) => HtmlValue, asked: AskedPart): Markup {
  const { address, arrived, txid } = shown;
  const isAsked = isPayable(shown);
  const hasAddress = isAsked || shown.state === 'seen' || shown.state === 'paid';
  const facts = html`<dl class="pairs"><dt>State</dt><dd>${stateWords(shown)}</dd>
<dt>Asked</dt><dd class="wrap"><span>${words(shown.asked)}</span></dd>
${arrived !== null && html`<dt>Arrived</dt><dd class="wrap"><span>${words(arrived)}</span></dd>`}
${isAsked && html`<dt>Still to pay</dt><dd class="wrap">${asked.amounts}</dd>`}
${hasAddress && html`<dt>Address</dt><dd>${isAsked ? copied(html`<span class="mono wrap">${address}</span>`, address) : html`<span class="mono wrap">${address}</span>`}</dd>`}
${txid !== null && html`<dt>Payment</dt><dd>${transactionLink(txid, { isWhole: true })}</dd>`}</dl>`;
  if (!isAsked) return facts;
  return html`<div class="pay"><div class="qr-frame" data-qr="${asked.code}" data-label="${asked.label}"></div>
<div>${facts}<p><a class="button primary" href="${asked.link}">Open in a wallet</a></p>
<p class="hint">${asked.hint}</p></div></div>`;
}

/** Texts and links that a payer needs to pay a charge. */
interface AskedPart {
  readonly amounts: HtmlValue;
  /** The text of the QR code. */
  readonly code: string;
  readonly label: string;
  /** A link in the form of BIP 21. */
  readonly link: string;
  readonly hint: string;
}

function tokenPart({ token }: CheckoutView): Markup {
  const { address, missing, missingUnits, name } = token;
  const words = (text: string): HtmlValue =>
    token.symbol === null ? text : html`${text} ${runeSymbol(token.symbol)}`;
  // the link has no amount, because wallets would read an amount as bitcoin. The QR code has only the address, because
  // wallets for runes show addresses in this form
  const message = encodeURIComponent(`Send ${missingUnits} ${name}, which is a rune, not bitcoin`);
  return html`<h2>Token</h2>
${charge(token, words, {
  amounts: copied(html`<b class="amount">${words(missing)}</b>`, missingUnits),
  code: address,
  label: 'QR code of the address for the token',
  link: `bitcoin:${address}?message=${message}`,
  hint: `Choose ${name} in a wallet for runes, and type in the amount. Bitcoin or another rune does not pay this part.`,
})}`;
}

function feePart({ fee }: CheckoutView): Markup {
  const { address, missingSats, sentSats } = fee;
  const link = `bitcoin:${address}?amount=${coins(sentSats)}`;
  const least =
    sentSats === missingSats
      ? ''
      : ` ${feeWords(missingSats)} ${missingSats === 1n ? 'is' : 'are'} missing, but wallets send at least ${feeWords(sentSats)}: the shop keeps the difference.`;
  return html`<h2>Fee</h2>
${charge(fee, (text) => text, {
  amounts: html`${copied(html`<b class="amount">${feeWords(sentSats)}</b>`, String(sentSats))} ${copied(`${coins(sentSats)} BTC`, coins(sentSats))}`,
  code: link,
  label: 'QR code of the payment of the fee',
  link,
  hint: `Any Bitcoin wallet pays this part.${least}`,
})}`;
}

const satsPerCoin = 100_000_000n;

/** Sats in the form of BIP 21: in coins, with all decimals. */
const coins = (sats: bigint): string =>
  `${sats / satsPerCoin}.${String(sats % satsPerCoin).padStart(8, '0')}`;

/** Sats in words. */
export const feeWords = (sats: bigint): string => `${grouped(Number(sats))} ${sats === 1n ? 'sat' : 'sats'}`;
