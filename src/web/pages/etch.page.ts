import { html, type Markup } from '#web/html.ts';
import { layout } from '#web/layout.ts';
import {
  check,
  closedNotice,
  feeField,
  field,
  input,
  type OrderFormView,
  runeReceiverField,
} from '#web/parts/order-fields.ts';

/** The page on which customers order the etching of a rune. */
export function etchPage(view: OrderFormView): Markup {
  const { site, closed } = view;
  return layout({
    title: 'Etch a rune · Satscribe',
    description:
      'Etch a rune on Bitcoin: see whether its name is free, its terms in words, and the exact price as you type.',
    site,
    scripts: closed === null ? ['order/etch-page.js'] : [],
    main: html`<h1>Etch a rune</h1>
${closed === null ? etchForm(view) : closedNotice(closed)}`,
  });
}

function etchForm({ network, demoAddress }: OrderFormView): Markup {
  return html`<p class="faint">A rune is a token of Bitcoin. Choose its name and its terms, see the exact price, pay with any wallet.
  The etching takes about an hour: one transaction claims the name, and another etches it five blocks later.</p>
<noscript><p class="notice">This page needs scripts: it asks for names and prices. Programs use
  <a href="/docs/#/orders">POST /runes/etch</a>.</p></noscript>
<form id="etch" class="inscribe" novalidate hidden data-network="${network}">
  <div class="asked">
    ${namePart()}
    ${unitsPart()}
    ${whenPart()}
    ${receiverPart(demoAddress)}
  </div>
  <section class="price card-box" aria-labelledby="price-title">
    <h2 id="price-title">Price</h2>
    <ul id="terms-words" class="plain-list"></ul>
    <div id="price" aria-live="polite"></div>
    <div role="alert"><ul id="refusals" class="problems" hidden></ul></div>
    <button id="order-button" class="button primary" type="submit" disabled>Order the etching</button>
    <p class="faint small">You pay afterwards, on the order’s page.</p>
  </section>
</form>
<p><a href="/order">Your orders</a> · <a href="/runes">All runes</a> · <a href="/mint-rune">Mint a rune</a></p>`;
}

const namePart = (): Markup => html`<section aria-labelledby="name-title">
  <h2 id="name-title">Name</h2>
  ${field('rune', 'Name of the rune', input('rune', 'text'), 'Letters, with . or • as spacers: SATSCRIBE•EXAMPLE. Longer names are unlocked first.')}
  <p id="name-standing" role="status"></p>
  ${field('symbol', 'Symbol', input('symbol', 'text'), 'One character that is shown with amounts. Empty: ¤.')}
</section>`;

const unitsPart = (): Markup => html`<section aria-labelledby="units-title">
  <h2 id="units-title">Units</h2>
  ${field('premine', 'Premine', input('premine', 'text', 'decimal'), 'Units that the receiver gets with the etching.')}
  ${field('amount', 'Units of a mint', input('amount', 'text', 'decimal'), 'Units that each mint gives. Empty: no one can mint it.')}
  ${field('cap', 'Mints', input('cap', 'text', 'numeric'), 'Maximum number of mints.')}
  ${field('divisibility', 'Decimals', input('divisibility', 'text', 'numeric'), '0 to 38: a rune with 2 decimals has hundredths. They cannot be changed later.')}
</section>`;

const whenPart = (): Markup => html`<details class="more-options"><summary>When it can be minted</summary>
  ${field('heightStart', 'From block', input('heightStart', 'text', 'numeric'), '')}
  ${field('heightEnd', 'Before block', input('heightEnd', 'text', 'numeric'), '')}
  ${field('offsetStart', 'First block after the etching, as a count', input('offsetStart', 'text', 'numeric'), '')}
  ${field('offsetEnd', 'First block after open mints, as a count', input('offsetEnd', 'text', 'numeric'), '')}
  ${check('turbo', 'Turbo: the rune takes part in future changes of the protocol')}
</details>`;

const receiverPart = (demoAddress: string | null): Markup => html`<section aria-labelledby="receiver-title">
  <h2 id="receiver-title">Receiver</h2>
  ${runeReceiverField('the premine', demoAddress)}
  ${field('refundAddress', 'Refund address', input('refundAddress', 'text'), 'If another transaction takes the name first, you get your money back at this address. Do not use an address of an exchange.')}
  ${feeField()}
</section>`;
