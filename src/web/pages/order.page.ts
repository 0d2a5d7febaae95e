import { html, type Markup } from '#web/html.ts';
import { layout, type Site } from '#web/layout.ts';

export interface OrderPageView {
  /** `null` if the process does not know the network yet. */
  readonly site: Site | null;
  readonly network: string;
  /** Whether there is a button that pays orders with demo coins. */
  readonly hasDemoCoins: boolean;
}

/**
 * The page of an order. The order's id is in the fragment of the URL, which browsers never send, so the HTML is the
 * same for all orders.
 */
export function orderPage({ site, network, hasDemoCoins }: OrderPageView): Markup {
  return layout({
    title: 'Your order · Satscribe',
    description: 'The payment of an order, its progress, and the finished inscriptions.',
    site,
    scripts: ['order/order-page.js'],
    takesFiles: true,
    main: html`<h1 id="order-title">Your order</h1>
<noscript><p class="notice">This page needs scripts: the id of an order stays in the browser, which asks for its state. Programs use
  <a href="/docs/#/orders/order">GET /order?id=</a>, which answers JSON.</p></noscript>
<article id="order" class="order" data-network="${network}"${hasDemoCoins && html` data-demo-pay`} hidden>
  <section id="state" class="state card-box" aria-live="polite" hidden></section>
  <section id="notices" aria-live="polite" hidden></section>
  <section id="pay" hidden></section>
  <section id="parents" hidden></section>
  <p id="said" class="said" role="status"></p>
  <section id="wallet" hidden></section>
  <section id="files" hidden></section>
  <section id="facts" hidden></section>
</article>
${openForm(null)}
<section id="own-orders" hidden></section>
<p><a href="/inscribe">Order inscriptions</a> · <a href="/etch">Etch a rune</a> · <a href="/mint-rune">Mint a rune</a></p>`,
  });
}

/**
 * The page that is shown if the path of a URL contains an order's id, because the id should be only in the fragment.
 * The page does not repeat the id.
 */
export function misplacedOrderPage(site: Site | null): Markup {
  return layout({
    title: 'Your order · Satscribe',
    description: 'Open the page of an order by its id.',
    site,
    scripts: ['order/misplaced-order.js'],
    takesFiles: true,
    main: html`<h1>Open an order</h1>
<p>The id of an order is a secret: anyone who has it can read and cancel the order. In the path of an address, servers
on the way see it and keep it in logs, so this page does not show the order. Enter the id here: it stays in the browser.</p>
<noscript><p class="notice">The page of an order needs scripts. Programs ask this address for JSON.</p></noscript>
${openForm('shown')}
<p><a href="/inscribe">Order inscriptions</a></p>`,
  });
}

/** A form for the id of an order. The form is never sent, because a script puts the id into the fragment. */
function openForm(shown: 'shown' | null): Markup {
  return html`<form id="open-order" class="open-order"${shown === null && html` hidden`}>
  <div class="field"><label for="order-id">Id of the order</label>
    <input id="order-id" type="text" required maxlength="200" spellcheck="false" autocapitalize="off" autocomplete="off" aria-describedby="order-id-problem">
    <p class="problem" id="order-id-problem" role="alert" hidden></p></div>
  <button class="button primary" type="submit">Open</button>
</form>`;
}
