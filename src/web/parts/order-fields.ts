import { type HtmlValue, html, type Markup } from '#web/html.ts';
import type { Site } from '#web/layout.ts';

/** A page on which customers order something. */
export interface OrderFormView {
  /** Null: the process does not know it yet. */
  readonly site: Site | null;
  readonly network: string;
  /** Why no orders are taken; null: they are. */
  readonly closed: string | null;
  /** An address for people who try a demo; null: this is no demo. */
  readonly demoAddress: string | null;
}

/** Told in place of a form while no orders are taken. `closed`: why. */
export const closedNotice = (closed: string): Markup =>
  html`<p class="notice"><b>Nothing can be ordered here now.</b> The service says: ${closed}. <a href="/status">Status</a> says what it waits for.</p>`;

/** A field of a form of orders, with its hint and the room for what is wrong with it. */
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

/** The fee rate, and the room for those of now (order-form.js). */
export const feeField =
  (): Markup => html`${field('fee', 'Fee rate in sat/vB', input('fee', 'text', 'decimal', '2'), 'Transactions with a higher rate are mined sooner.')}
  <div id="fees" class="choices" role="group" aria-label="Fee rates of now" hidden></div>`;

/** The address that gets the units of a rune. `gets`: which they are. */
export const runeReceiverField = (gets: string, demoAddress: string | null): Markup =>
  field(
    'receiveAddress',
    `Address that receives ${gets}`,
    html`<textarea id="receiveAddress" name="receiveAddress" rows="2" spellcheck="false" autocapitalize="off" autocomplete="off" aria-describedby="receiveAddress-hint receiveAddress-problem">${demoAddress}</textarea>`,
    demoAddress === null
      ? 'An address of a wallet that shows runes: others spend them by mistake.'
      : 'This is a demo: the address is only for trying it, and belongs to no wallet.',
  );
