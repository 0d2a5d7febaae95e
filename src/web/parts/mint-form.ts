import { type HtmlValue, html, type Markup } from '#web/html.ts';
import type { ShownSale } from './mint-supply.ts';
import { check, closedNotice, feeField, field, input } from './order-fields.ts';

export interface MintForm {
  readonly slug: string;
  readonly network: string;
  /** The reason why orders are closed. `null` if orders are open. */
  readonly closed: string | null;
  /**
   * The challenge before an order. `none`: the service requires no challenge. `missing`: the service requires a
   * challenge, but its pages cannot show this challenge.
   */
  readonly challenge: 'none' | 'missing' | { readonly siteKey: string };
  /** Whether buyers can choose items by number. */
  readonly hasNumbers: boolean;
  /** Whether a phase has a list of addresses. */
  readonly hasLists: boolean;
  /** An address for people who try a demo. `null` if this is not a demo. */
  readonly demoAddress: string | null;
}

/**
 * States in which a reader may need the form without a reload, because a phase may open, or because reserved items may
 * become free.
 */
const sellingStates: ReadonlySet<ShownSale> = new Set(['open', 'later', 'between', 'reserved']);

/** The form in which a customer orders items of a collection. A script shows the form while a phase is open. */
export function mintForm(form: MintForm, sale: ShownSale): HtmlValue {
  const list = form.hasLists && sale !== 'sold out' && sale !== 'closed' && listPart(form);
  if (!sellingStates.has(sale)) return list;
  return [list, html`<section id="minting"><h2>Mint</h2>${refusalOf(form) ?? orderForm(form)}</section>`];
}

function refusalOf({ closed, challenge }: MintForm): Markup | null {
  if (closed !== null) return closedNotice(closed);
  if (challenge === 'missing')
    return html`<p class="notice"><b>This page cannot take orders.</b> The operator has set a secret of Turnstile (TURNSTILE_SECRET), but no site key for pages (TURNSTILE_SITE_KEY). Programs with a key use <a href="/docs/#/collections">POST /collectionorder</a>.</p>`;
  return null;
}

const listPart = ({ slug, network }: MintForm): Markup => html`<section><h2>Am I on the list?</h2>
<noscript><p class="notice">Looking up an address needs scripts. Programs use <a href="/docs/#/collections">POST /getallocation</a>.</p></noscript>
<form id="listed" class="open-order" novalidate hidden data-network="${network}" data-collection="${slug}">
  ${field('listedAddress', 'Your address', input('listedAddress', 'text'), 'The address that gets the items. It is only looked up, and not stored.')}
  <button class="button" type="submit">Look it up</button>
</form>
<div id="listed-answer" role="status"></div>
</section>`;

function orderForm({ slug, network, challenge, hasNumbers, demoAddress }: MintForm): Markup {
  const siteKey = typeof challenge === 'object' && html` data-site-key="${challenge.siteKey}"`;
  return html`<noscript><p class="notice">Ordering needs scripts, which ask for the exact price. Programs use
  <a href="/docs/#/collections">POST /collectionorder</a>.</p></noscript>
<p id="not-open" class="faint" hidden>You can order as soon as a phase is open. This page updates by itself.</p>
<form id="mint" class="inscribe" novalidate hidden data-network="${network}" data-collection="${slug}"${siteKey}>
  <div class="asked">
    ${field('count', 'How many', html`<input id="count" name="count" type="number" inputmode="numeric" min="1" max="1000" value="1" autocomplete="off" aria-describedby="count-hint count-problem">`, hasNumbers ? 'Random items of those that are left.' : 'All items are the same file.')}
    ${hasNumbers && html`<details class="field"><summary>Or choose items by their numbers</summary>${field('requestedIds', 'Numbers', input('requestedIds', 'text'), 'From 1, separated by commas: 3, 7, 12.')}</details>`}
    ${field(
      'receiveAddress',
      'Address that receives the items',
      html`<textarea id="receiveAddress" name="receiveAddress" rows="2" spellcheck="false" autocapitalize="off" autocomplete="off" aria-describedby="receiveAddress-hint receiveAddress-problem">${demoAddress}</textarea>`,
      demoAddress === null
        ? 'A taproot address of a wallet that shows inscriptions.'
        : 'This is a demo: the address is only for trying it out, and belongs to no wallet.',
    )}
    ${feeField()}
    <details class="field"><summary>More options</summary>
      ${field('refundAddress', 'Refund address', input('refundAddress', 'text'), 'Refunds go to this address. Do not use an address of an exchange. Without one, the operator decides.')}
      ${check('uncurse', 'One reveal each: no inscription is vindicated')}
    </details>
  </div>
  <section class="price card-box" aria-labelledby="price-title">
    <h3 id="price-title">Price</h3>
    <div id="price" aria-live="polite"></div>
    <div id="challenge"></div>
    <div role="alert"><ul id="refusals" class="problems" hidden></ul></div>
    <button id="order-button" class="button primary" type="submit" disabled>Order</button>
    <p class="faint small">You pay afterwards, on the order’s page, within 30 minutes.</p>
  </section>
</form>
<p><a href="/order">Your orders</a></p>`;
}
