import { type HtmlValue, html, type Markup } from '#web/html.ts';
import type { ShownSale } from './mint-supply.ts';
import { check, closedNotice, feeField, field, input } from './order-fields.ts';

export interface MintForm {
  readonly slug: string;
  readonly network: string;
  /** Why no orders are taken; null: they are. */
  readonly closed: string | null;
  /**
   * Challenge before an order. `none`: the service asks for no challenge. `missing`: it asks for one that its pages
   * cannot show.
   */
  readonly challenge: 'none' | 'missing' | { readonly siteKey: string };
  /** Items have numbers to choose from. */
  readonly hasNumbers: boolean;
  /** A phase has a list. */
  readonly hasLists: boolean;
  /** An address for people who try a demo; null: this is no demo. */
  readonly demoAddress: string | null;
}

/** States in which a form may be needed without a reload: a phase may open, and items may come back. */
const sellingStates: ReadonlySet<ShownSale> = new Set(['open', 'later', 'between', 'reserved']);

/** Takes an order of a collection; its script shows it while a phase is open. */
export function mintForm(form: MintForm, sale: ShownSale): HtmlValue {
  const list = form.hasLists && sale !== 'sold out' && sale !== 'closed' && listPart(form);
  if (!sellingStates.has(sale)) return list;
  return [list, html`<section id="minting"><h2>Mint</h2>${refusalOf(form) ?? orderForm(form)}</section>`];
}

function refusalOf({ closed, challenge }: MintForm): Markup | null {
  if (closed !== null) return closedNotice(closed);
  if (challenge === 'missing')
    return html`<p class="notice"><b>Nothing can be ordered on this page.</b> The operator has a secret of Turnstile (TURNSTILE_SECRET), and no site key for pages (TURNSTILE_SITE_KEY). Programs with a key use <a href="/docs/#/collections">POST /collectionorder</a>.</p>`;
  return null;
}

const listPart = ({ slug, network }: MintForm): Markup => html`<section><h2>Am I on the list?</h2>
<noscript><p class="notice">This question needs scripts. Programs use <a href="/docs/#/collections">POST /getallocation</a>.</p></noscript>
<form id="listed" class="open-order" novalidate hidden data-network="${network}" data-collection="${slug}">
  ${field('listedAddress', 'Your address', input('listedAddress', 'text'), 'The one that gets the items. It is asked for here, and kept nowhere.')}
  <button class="button" type="submit">Look it up</button>
</form>
<div id="listed-answer" role="status"></div>
</section>`;

function orderForm({ slug, network, challenge, hasNumbers, demoAddress }: MintForm): Markup {
  const siteKey = typeof challenge === 'object' && html` data-site-key="${challenge.siteKey}"`;
  return html`<noscript><p class="notice">Ordering needs scripts: they ask for the exact price. All else is above without them. Programs use
  <a href="/docs/#/collections">POST /collectionorder</a>.</p></noscript>
<p id="not-open" class="faint" hidden>Orders are taken as soon as a phase is open. This page looks by itself.</p>
<form id="mint" class="inscribe" novalidate hidden data-network="${network}" data-collection="${slug}"${siteKey}>
  <div class="asked">
    ${field('count', 'How many', html`<input id="count" name="count" type="number" inputmode="numeric" min="1" max="1000" value="1" autocomplete="off" aria-describedby="count-hint count-problem">`, hasNumbers ? 'Random ones of those that are left.' : 'Each is the same file.')}
    ${hasNumbers && html`<details class="field"><summary>Or choose items by their numbers</summary>${field('requestedIds', 'Numbers', input('requestedIds', 'text'), 'From 1, separated by commas: 3, 7, 12.')}</details>`}
    ${field(
      'receiveAddress',
      'Address that receives the items',
      html`<textarea id="receiveAddress" name="receiveAddress" rows="2" spellcheck="false" autocapitalize="off" autocomplete="off" aria-describedby="receiveAddress-hint receiveAddress-problem">${demoAddress}</textarea>`,
      demoAddress === null
        ? 'A taproot address of a wallet that shows inscriptions.'
        : 'This is a demo: the address is only for trying it, and belongs to no wallet.',
    )}
    ${feeField()}
    <details class="field"><summary>More options</summary>
      ${field('refundAddress', 'Refund address', input('refundAddress', 'text'), 'Money that no item needs goes there. Never an address of an exchange. Without it the operator decides.')}
      ${check('uncurse', 'One reveal each: no inscription is vindicated')}
    </details>
  </div>
  <section class="price card-box" aria-labelledby="price-title">
    <h3 id="price-title">Price</h3>
    <div id="price" aria-live="polite"></div>
    <div id="challenge"></div>
    <div role="alert"><ul id="refusals" class="problems" hidden></ul></div>
    <button id="order-button" class="button primary" type="submit" disabled>Order</button>
    <p class="faint small">You pay afterwards, on the order’s page. You have 30 minutes for it.</p>
  </section>
</form>
<p><a href="/order">Your orders</a></p>`;
}
