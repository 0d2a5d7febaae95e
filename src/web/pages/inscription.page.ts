import type { Height } from '#kernel/primitives/height.ts';
import type { SaleView } from '#kernel/sales/sale-view.ts';
import { grouped, plural, shortHash, sizeWords, timeWords } from '#web/format.ts';
import { type HtmlValue, html, type Markup } from '#web/html.ts';
import { type KnownFacts, knownOf } from '#web/known.ts';
import { layout, type Site } from '#web/layout.ts';
import { previewFrame } from '#web/parts/preview-frame.ts';
import { type SatributeName, satributeChips } from '#web/parts/satribute-chips.ts';
import { isolated, strangersName } from '#web/parts/strangers-text.ts';
import { salesTable } from './sale.page.ts';

/** A sale that is in no block yet. */
export interface PendingSaleView {
  /** Sats. */
  readonly price: number;
  /** Null: the script has no address; of the taker also: the inscription goes into the fee. */
  readonly makerAddress: string | null;
  readonly takerAddress: string | null;
  readonly txid: string;
}

export interface InscriptionView {
  readonly site: Site;
  readonly id: string;
  readonly txid: string;
  readonly number: number | null;
  readonly height: Height;
  readonly timestamp: number;
  readonly facts: KnownFacts;
  readonly txIndex: number;
  readonly input: number;
  readonly contentType: string | null;
  readonly effectiveContentType: string | null;
  readonly contentEncoding: string | null;
  readonly contentLength: number | null;
  readonly contentHash: string | null;
  readonly delegate: string | null;
  readonly metaprotocol: string | null;
  readonly metadataJson: string | null;
  /** Null: it is not burned, or its burn has none. */
  readonly burnMetadataJson: string | null;
  /** A text that is longer than `jsonShownChars` may be cut somewhere after them. */
  readonly propertiesJson: string | null;
  /** Inscriptions that the content loads. */
  readonly references: readonly { readonly id: string; readonly isMissing: boolean }[];
  /** Null: not indexed, or not known. */
  readonly sat: { readonly number: number; readonly satributes: readonly SatributeName[] } | null;
  readonly charms: readonly string[] | null;
  readonly curse: string | null;
  readonly fee: number | null;
  readonly satpoint: string | null;
  readonly place: 'output' | 'lost' | 'unbound' | null;
  readonly address: string | null;
  readonly value: number | null;
  readonly parents: readonly string[] | null;
  readonly children: readonly string[];
  /** Null while they are being counted. */
  readonly childCount: number | null;
  /** Missing blocks can hold no further children. */
  readonly hasAllChildren: boolean;
  /** In the mempool, in the order in which they were seen. */
  readonly pendingSales: readonly PendingSaleView[];
  /** The newest, newest first. */
  readonly sales: readonly SaleView[];
  /** That have it: imports first. Null: not known yet. */
  readonly collections: readonly { readonly slug: string; readonly name: string }[] | null;
  readonly previous: string | null;
  readonly next: string | null;
}

const referencesShown = 8;
const collectionsShown = 8;

export function inscriptionPage(view: InscriptionView): Markup {
  const name = view.number === null ? shortHash(view.id) : `#${grouped(view.number)}`;
  return layout({
    title: `Inscription ${name} · Satscribe`,
    site: view.site,
    main: html`<article class="inscription">
<div class="stage">
  ${previewFrame(view.id)}
  <p class="tools">
    <a href="/content/${view.id}">Content only</a>
    <a href="/indexer/inscription?id=${view.id}">Record</a>
    ${view.contentHash !== null && html`<a href="/?hash=${view.contentHash}">Same content</a>`}
  </p>
</div>
<div class="about">
  <p class="steps">${step(view.previous, '‹ Previous', 'prev')} ${step(view.next, 'Next ›', 'next')}</p>
  <h1>Inscription ${name}</h1>
  <p class="mono wrap faint">${view.id}</p>
  <dl class="table">${rows(view)}</dl>
  ${salesTable(view.sales)}
  ${jsonSection('Metadata', view.metadataJson)}
  ${jsonSection('Burn metadata', view.burnMetadataJson)}
  ${jsonSection('Properties', view.propertiesJson)}
</div>
</article>`,
  });
}

function step(id: string | null, words: string, rel: string): HtmlValue {
  return id !== null && html`<a href="/inscription/${id}" rel="${rel}">${words}</a>`;
}

function rows(view: InscriptionView): HtmlValue {
  const { why } = knownOf(view.facts);
  // a missing fact leaves its field unknown; every row says so in the same words
  const unknown = html`<span class="faint">not known${why !== null && html`: ${why}`}</span>`;
  const row = (name: string, value: HtmlValue): Markup =>
    html`<div><dt>${name}</dt><dd>${value ?? unknown}</dd></div>\n`;
  const optional = (name: string, value: HtmlValue): HtmlValue => value !== null && row(name, value);
  return [
    row('Number', groupedOrNull(view.number)),
    row('Content type', isolated(view.contentType) ?? none('none')),
    optional('Shown as', view.delegate === null ? null : (isolated(view.effectiveContentType) ?? 'no type')),
    row('Content', view.contentLength === null ? none('no body') : sizeWords(view.contentLength)),
    optional('Encoding', isolated(view.contentEncoding)),
    optional('sha256', monoOrNull(view.contentHash)),
    optional('Delegate', view.delegate === null ? null : idLink(view.delegate)),
    row(
      'Block',
      html`<a href="/block/${view.height}">${grouped(view.height)}</a>, ${timeWords(view.timestamp)}`,
    ),
    row(
      'Transaction',
      html`${mono(view.txid)} <span class="faint">no. ${view.txIndex}, input ${view.input}</span>`,
    ),
    row('Fee', satsOrNull(view.fee)),
    row('Place', placeWords(view)),
    optional('Address', view.address === null ? null : addressLink(view.address)),
    optional('Value of the output', satsOrNull(view.value)),
    view.pendingSales.length > 0 && row('Being sold', view.pendingSales.map(pendingSaleWords)),
    optional('Sat', satWords(view.sat)),
    row('Charms', charmWords(view.charms)),
    optional('Curse', view.curse),
    optional('Metaprotocol', isolated(view.metaprotocol)),
    row('Parents', view.parents === null ? null : idList(view.parents, view.parents.length)),
    view.children.length > 0 && row('Children', childList(view)),
    optional('Collections', collectionList(view)),
    view.references.length > 0 && row('Refers to', referenceList(view.references)),
  ];
}

const none = (words: string): Markup => html`<span class="faint">${words}</span>`;
const groupedOrNull = (value: number | null): HtmlValue => (value === null ? null : grouped(value));
const satsOrNull = (value: number | null): HtmlValue => (value === null ? null : plural(value, 'sat'));
const monoOrNull = (text: string | null): HtmlValue => (text === null ? null : mono(text));

function placeWords({ place, satpoint }: InscriptionView): HtmlValue {
  if (place === null || satpoint === null) return null;
  if (place === 'unbound') return 'unbound: on no sat';
  return html`${place === 'lost' && 'lost to fees, '}${mono(satpoint)}`;
}

/** Who buys may change until a block has it: another buyer can replace the transaction. */
function pendingSaleWords({ price, makerAddress, takerAddress, txid }: PendingSaleView): Markup {
  const party = (address: string | null): HtmlValue =>
    address === null ? 'no address' : addressLink(address);
  return html`<p>${plural(price, 'sat')} <span class="faint">in the mempool, by ${mono(txid)}, from</span>
${party(makerAddress)} <span class="faint">to</span> ${party(takerAddress)}</p>`;
}

function satWords(sat: InscriptionView['sat']): HtmlValue {
  if (sat === null) return null;
  const { number, satributes } = sat;
  return html`<a href="/sat/${number}">${grouped(number)}</a> ${satributeChips(satributes, number)}`;
}

function charmWords(charms: readonly string[] | null): HtmlValue {
  if (charms === null) return null;
  if (charms.length === 0) return html`<span class="faint">none</span>`;
  return charms.map((charm) => html`<span class="chip">${charm}</span> `);
}

function idList(ids: readonly string[], total: number): HtmlValue {
  if (ids.length === 0) return html`<span class="faint">none</span>`;
  const more = total - ids.length;
  return html`${ids.map((id) => html`${idLink(id)}<br>`)}${more > 0 && html`<span class="faint">and ${grouped(more)} more</span>`}`;
}

function childList({ children, childCount, hasAllChildren }: InscriptionView): HtmlValue {
  const missing = html`<br><span class="faint">others may be in missing blocks</span>`;
  return html`${idList(children, childCount ?? children.length)}${!hasAllChildren && missing}`;
}

function referenceList(references: InscriptionView['references']): HtmlValue {
  const shown = references.slice(0, referencesShown);
  const more = references.length - shown.length;
  return html`${shown.map(({ id, isMissing }) =>
    isMissing
      ? html`<span class="mono" title="${id}">${shortHash(id)}</span> <span class="faint">not indexed here</span><br>`
      : html`${idLink(id)}<br>`,
  )}${more > 0 && html`<span class="faint">and ${grouped(more)} more</span>`}`;
}

function collectionList({ id, collections }: InscriptionView): HtmlValue {
  if (collections === null || collections.length === 0) return null;
  const more = collections.length > collectionsShown;
  const links = collections
    .slice(0, collectionsShown)
    .map(({ slug, name }) => html`<a class="wrap" href="/collection/${slug}">${strangersName(name)}</a><br>`);
  return html`${links}${more && html`<a href="/marketplace/data/collections/of/${id}">and more</a>`}`;
}

function idLink(id: string): Markup {
  return html`<a class="mono" href="/inscription/${id}" title="${id}">${shortHash(id)}</a>`;
}

function addressLink(address: string): Markup {
  return html`<a class="mono wrap" href="/address/${address}">${address}</a>`;
}

function mono(text: string): Markup {
  return html`<span class="mono wrap">${text}</span>`;
}

/** A longer text is not shown; `/indexer/inscription` has all of it. */
export const jsonShownChars = 20_000;

function jsonSection(title: string, json: string | null): HtmlValue {
  if (json === null) return null;
  const shown = json.length <= jsonShownChars ? json : `${json.slice(0, jsonShownChars)}…`;
  return html`<section><h2>${title}</h2><pre class="json">${indented(shown)}</pre></section>`;
}

/**
 * JSON text with line breaks; numbers and strings stay as they are (parsing would round large integers). A string
 * that is cut at the end of the text is one token too, or each of its quotes would be tried as the start of another.
 */
function indented(json: string): string {
  let depth = 0;
  return json.replace(/"(?:[^"\\]|\\.)*"?|[{}[\],:]/gu, (token, at: number) => {
    const line = (): string => `\n${'  '.repeat(depth)}`;
    switch (token) {
      case '{':
      case '[': {
        // an empty list or object stays on its line
        if (json[at + 1] === '}' || json[at + 1] === ']') return token;
        depth += 1;
        return `${token}${line()}`;
      }
      case '}':
      case ']': {
        if (json[at - 1] === '{' || json[at - 1] === '[') return token;
        depth = Math.max(0, depth - 1);
        return `${line()}${token}`;
      }
      case ',':
        return `,${line()}`;
      case ':':
        return ': ';
      default:
        return token;
    }
  });
}
