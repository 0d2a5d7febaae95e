import { html, type Markup } from '#web/html.ts';
import { layout } from '#web/layout.ts';
import {
  closedNotice,
  feeField,
  field,
  input,
  type OrderFormView,
  runeReceiverField,
} from '#web/parts/order-fields.ts';

/** The page on which customers order mints of a rune. */
export function mintRunePage(view: OrderFormView): Markup {
  const { site, closed } = view;
  return layout({
    title: 'Mint a rune · Satscribe',
    description:
      'Mint a rune on Bitcoin: see how many mints are left, how much each gives, and the exact price as you type.',
    site,
    scripts: closed === null ? ['order/mint-rune-page.js'] : [],
    main: html`<h1>Mint a rune</h1>
${closed === null ? mintForm(view) : closedNotice(closed)}`,
  });
}

function mintForm({ network, demoAddress }: OrderFormView): Markup {
  return html`<p class="faint">Anyone can mint a rune whose terms are open. Each mint is a transaction of its own. Choose the rune
and the number of mints, see the exact price, pay with any wallet.</p>
<noscript><p class="notice">This page needs scripts: it asks for runes and prices. Programs use
  <a href="/docs/#/orders">POST /runes/mint</a>.</p></noscript>
<form id="mint" class="inscribe" novalidate hidden data-network="${network}">
  <div class="asked">
    <section aria-labelledby="rune-title">
      <h2 id="rune-title">Rune</h2>
      ${field('rune', 'Name of the rune', input('rune', 'text'), 'Letters, with . or • as spacers or without them: UNCOMMON•GOODS.')}
      <p id="rune-standing" role="status"></p>
      ${field('numberOfMints', 'Mints', input('numberOfMints', 'text', 'numeric'), '1 to 1,000.')}
    </section>
    ${receiverPart(demoAddress)}
  </div>
  <section class="price card-box" aria-labelledby="price-title">
    <h2 id="price-title">Price</h2>
    <div id="price" aria-live="polite"></div>
    <div role="alert"><ul id="refusals" class="problems" hidden></ul></div>
    <button id="order-button" class="button primary" type="submit" disabled>Order the mints</button>
    <p class="faint small">You pay afterwards, on the order’s page.</p>
  </section>
</form>
<p><a href="/order">Your orders</a> · <a href="/runes">All runes</a> · <a href="/etch">Etch a rune</a></p>`;
}

const receiverPart = (demoAddress: string | null): Markup => html`<section aria-labelledby="receiver-title">
  <h2 id="receiver-title">Receiver</h2>
  ${runeReceiverField('the runes', demoAddress)}
  ${field('refundAddress', 'Refund address', input('refundAddress', 'text'), 'If others use up the mints, you get your money back at this address. Do not use an address of an exchange.')}
  ${feeField()}
</section>`;
