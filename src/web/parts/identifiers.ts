import { grouped, shortHash } from '#web/format.ts';
import { type HtmlValue, html, type Markup } from '#web/html.ts';

const copyIcon = html`<svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true"><path d="M5.5 5.5v-3h8v8h-3m-8-5h8v8h-8z"></path></svg>`;

/** A button that copies a text. A script shows the button if the browser allows copying. */
export const copyButton = (text: string): Markup =>
  html`<button class="copy" type="button" hidden data-copy="${text}" aria-label="Copy ${shortHash(text)}" title="Copy">${copyIcon}</button>`;

interface Shown {
  /** Shows the complete text. Without this option, only the beginning and end are shown. */
  readonly isWhole?: boolean;
  /** Leaves out the copy button, for example inside a sentence or in a row with many identifiers. */
  readonly isBare?: boolean;
}

function identifier(href: string, text: string, words: HtmlValue, { isBare = false }: Shown): Markup {
  const link = html`<a class="mono" href="${href}" title="${text}">${words}</a>`;
  return isBare ? link : html`<span class="copied">${link}${copyButton(text)}</span>`;
}

const shortened = (text: string, { isWhole = false }: Shown): HtmlValue =>
  isWhole ? html`<span class="wrap">${text}</span>` : shortHash(text);

export const transactionLink = (txid: string, shown: Shown = {}): Markup =>
  identifier(`/tx/${txid}`, txid, shortened(txid, shown), shown);

/**
 * A link to the page of an output.
 *
 * @param outpoint `<txid>:<index>`
 */
export function outputLink(outpoint: string, shown: Shown = {}): Markup {
  const [txid = '', index = ''] = outpoint.split(':');
  const words = shown.isWhole === true ? shortened(outpoint, shown) : `${shortHash(txid)}:${index}`;
  return identifier(`/output/${outpoint}`, outpoint, words, shown);
}

export const addressLink = (address: string, shown: Shown = {}): Markup =>
  identifier(`/address/${address}`, address, shortened(address, shown), shown);

export const heightLink = (height: number): Markup => html`<a href="/block/${height}">${grouped(height)}</a>`;

export const blockHashLink = (hash: string, shown: Shown = {}): Markup =>
  identifier(`/block/${hash}`, hash, shortened(hash, shown), shown);

/** A link to an inscription. Its text is the inscription's number, or the id if there is no number. */
export const inscriptionLink = (
  { id, number }: { readonly id: string; readonly number: number | null },
  shown: Shown = { isBare: true },
): Markup => {
  const words = number === null ? shortened(id, shown) : `#${grouped(number)}`;
  return identifier(`/inscription/${id}`, id, words, shown);
};

/** The SHA-256 of a content, with a link to all inscriptions with this content. */
export const contentHashLink = (hash: string): Markup =>
  identifier(`/?hash=${hash}`, hash, shortened(hash, { isWhole: true }), {});

export const satLink = (sat: number): Markup => html`<a href="/sat/${sat}">${grouped(sat)}</a>`;
