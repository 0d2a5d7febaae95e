import { type HtmlValue, html, type Markup } from '#web/html.ts';
import type { Site } from '#web/layout.ts';

/** A page on which customers order something. */
export interface OrderFormView {
  /** `null` if the process does not know the network yet. */
  readonly site: Site | null;
  readonly network: string;
  /** The reason why orders are closed. `null` if orders are open. */
  readonly closed: string | null;
  /** An address for people who try a demo. `null` if this is not a demo. */
  readonly demoAddress: string | null;
}

/**
 * The notice that replaces a form while orders are closed.
 *
 * @param closed the reason
 */
export const closedNotice = (closed: string): Markup =>
  html`<p class="notice"><b>You cannot order here now:</b> ${closed}. See <a href="/status">Status</a> for what the service waits for.</p>`;

/** A field of an order form, with a hint and an element for the field's problem. */
export function field(name: string, label: string, control: HtmlValue, hint: string): Markup {
  return html`<div class="field"><label for="${name}">${label}</label>
    ${control}
    <p class="hint small" id="${name}-hint">${hint}</p>
    <p class="problem" id="${name}-problem" role="alert" hidden></p></div>`;
}

export const input = (
  name: string,
  type: 'text',
  mode: 'text' | 'decimal' | 'numeric' = 'text',
  value = '',
): Markup =>
  html`<input id="${name}" name="${name}" type="${type}" inputmode="${mode}" value="${value}" spellcheck="false" autocapitalize="off" autocomplete="off" aria-describedby="${name}-hint ${name}-problem">`;

export const check = (name: string, words: string): Markup =>
  html`<label class="check"><input type="checkbox" id="${name}" name="${name}"> ${words}</label>`;

/** The field for the fee rate, and an element for the current fee rates (order-form.js). */
export const feeField =
  (): Markup => html`${field('fee', 'Fee rate in sat/vB', input('fee', 'text', 'decimal', '2'), 'Transactions with a higher rate are mined sooner.')}
  <div id="fees" class="choices" role="group" aria-label="Current fee rates" hidden></div>`;

/**
 * The field for the address that receives units of a rune.
 *
 * @param gets the name of the units
 */
export const runeReceiverField = (gets: string, demoAddress: string | null): Markup =>
  field(
    'receiveAddress',
    `Address that receives ${gets}`,
    html`<textarea id="receiveAddress" name="receiveAddress" rows="2" spellcheck="false" autocapitalize="off" autocomplete="off" aria-describedby="receiveAddress-hint receiveAddress-problem">${demoAddress}</textarea>`,
    demoAddress === null
      ? 'An address of a wallet that shows runes: other wallets may spend them by mistake.'
      : 'This is a demo: the address is only for trying it out, and belongs to no wallet.',
  );
