import type { Height } from '#kernel/primitives/height.ts';
import { grouped, plural, shortHash, sizeWords, timeWords } from '#web/format.ts';
import { type HtmlValue, html, type Markup } from '#web/html.ts';
import { type KnownFacts, knownOf } from '#web/known.ts';
import { layout, type Site } from '#web/layout.ts';
import { isSvg, mediaOf, mediaWords } from '#web/media.ts';
import { type ArtStripView, artStrip } from '#web/parts/art-strip.ts';
import {
  addressLink,
  contentHashLink,
  copyButton,
  heightLink,
  satLink,
  transactionLink,
} from '#web/parts/identifiers.ts';
import { recordJson } from '#web/parts/record-json.ts';
import { type SatributeName, satributeChips } from '#web/parts/satribute-chips.ts';
import { stage } from '#web/parts/stage.ts';
import { isolated, strangersName } from '#web/parts/strangers-text.ts';
import { type PendingSaleView, satpointLink, type TimelineEvent, timeline } from '#web/parts/timeline.ts';
import { traitList } from '#web/parts/trait-list.ts';
import { watchLink } from '#web/parts/watch-link.ts';
import { plainTitle, type Trait } from '#web/titles-and-traits.ts';

export interface InscriptionView {
  readonly site: Site;
  readonly id: string;
  readonly txid: string;
  readonly number: number | null;
  /** The name from the inscription's creator or collection. `null` if the inscription has no name. */
  readonly title: string | null;
  readonly traits: readonly Trait[];
  readonly height: Height;
  readonly timestamp: number;
  readonly facts: KnownFacts;
  readonly txIndex: number;
  readonly input: number;
  readonly contentType: string | null;
  readonly effectiveContentType: string | null;
  /**
   * Whether a document runs scripts. `null` if the content is not a document, or if its beginning does not decide this.
   */
  readonly runs: boolean | null;
  readonly contentEncoding: string | null;
  readonly contentLength: number | null;
  readonly contentHash: string | null;
  readonly delegate: string | null;
  readonly metaprotocol: string | null;
  readonly metadataJson: string | null;
  /** `null` if the inscription is not burned, or if its burn has no metadata. */
  readonly burnMetadataJson: string | null;
  /** A text longer than `jsonShownChars` may be cut after that length. */
  readonly propertiesJson: string | null;
  /** Inscriptions that the content loads. */
  readonly references: readonly { readonly id: string; readonly isMissing: boolean }[];
  /** `null` if the sat is not indexed, or unknown. */
  readonly sat: { readonly number: number; readonly satributes: readonly SatributeName[] } | null;
  readonly charms: readonly string[] | null;
  readonly curse: string | null;
  readonly fee: number | null;
  readonly satpoint: string | null;
  readonly place: 'output' | 'lost' | 'unbound' | null;
  readonly address: string | null;
  readonly value: number | null;
  /** `null` if it is unknown which of the claimed parents are valid. */
  readonly parents: ArtStripView | null;
  readonly children: ArtStripView;
  /** True if missing blocks cannot contain more children. */
  readonly hasAllChildren: boolean;
  readonly gallery: ArtStripView;
  /** Sales in the mempool, in the order of their arrival. */
  readonly pendingSales: readonly PendingSaleView[];
  /** The newest events, newest first. */
  readonly events: readonly TimelineEvent[];
  /** Collections that contain the inscription, imports first. `null` if not known yet. */
  readonly collections: readonly { readonly slug: string; readonly name: string }[] | null;
  /**
   * Neighbours in the inscription's first collection. `null` if the neighbours are unknown, or if the inscription is in
   * no collection.
   */
  readonly neighbours: Neighbours | null;
  readonly previous: string | null;
  readonly next: string | null;
}

interface Neighbours {
  readonly collection: { readonly slug: string; readonly name: string };
  readonly previous: string | null;
  readonly next: string | null;
}

const referencesShown = 8;
const collectionsShown = 8;

/**
 * The page of an inscription: first its art, then its name, facts, history and relatives. A folded part has all fields
 * of the record.
 */
export function inscriptionPage(view: InscriptionView): Markup {
  const name = nameOf(view);
  const title = plainTitle(view.title ?? '');
  return layout({
    title: `${title === '' ? '' : `${title} · `}Inscription ${name} · Satscribe`,
    description: descriptionOf(view, title),
    site: view.site,
    scripts: ['share.js'],
    main: html`<article class="inscription">
<div class="stage">
  ${stage(view)}
  ${tools(view, title === '' ? `Inscription ${name}` : title)}
</div>
<div class="about">
  ${heading(view)}
  <p class="chips">${chips(view)}</p>
  ${traitList(view.traits)}
  <dl class="table">${facts(view)}</dl>
  ${neighbours(view.neighbours)}
</div>
</article>
${relatives(view)}
${history(view)}
${record(view)}
<p class="steps">${step(view.previous, '‹ Inscribed before', 'prev')} ${step(view.next, 'Inscribed next ›', 'next')}</p>`,
  });
}

const nameOf = ({ number, id }: InscriptionView): string =>
  number === null ? shortHash(id) : `#${grouped(number)}`;

function descriptionOf(view: InscriptionView, title: string): string {
  const what = view.contentLength === null ? '' : `, ${sizeWords(view.contentLength)}`;
  const named = title !== '' ? `“${title}”, inscription` : 'Inscription';
  return `${named} ${nameOf(view)} on Bitcoin: ${mediaWords(view.effectiveContentType)}${what}, block ${grouped(view.height)}, ${timeWords(view.timestamp)}.`;
}

function heading(view: InscriptionView): Markup {
  const name = `Inscription ${nameOf(view)}`;
  const id = html`<p class="copied id"><span class="mono wrap faint">${view.id}</span>${copyButton(view.id)}</p>`;
  if (view.title === null) return html`<h1>${name}</h1>${id}`;
  return html`<h1 class="wrap">${strangersName(view.title)}</h1><p class="number">${name}</p>${id}`;
}

function tools({ id, number, effectiveContentType, contentHash }: InscriptionView, title: string): Markup {
  const file = `${number ?? id}${fileEnding(effectiveContentType)}`;
  return html`<p class="tools">
    <a class="button" href="/preview/${id}" target="_blank" rel="noopener">Open alone</a>
    <a class="button" href="/content/${id}" download="${file}">Download</a>
    <button class="button share" type="button" hidden data-title="${title}" data-path="/inscription/${id}">Share</button>
    ${contentHash !== null && html`<a class="button" href="/?hash=${contentHash}">Equal contents</a>`}
  </p>`;
}

/** File name extensions for the most common content types, because programs recognize files by them. */
const endings: ReadonlyMap<string, string> = new Map([
  ['image/png', '.png'],
  ['image/jpeg', '.jpg'],
  ['image/gif', '.gif'],
  ['image/webp', '.webp'],
  ['image/avif', '.avif'],
  ['image/svg+xml', '.svg'],
  ['text/html', '.html'],
  ['text/plain', '.txt'],
  ['application/json', '.json'],
  ['application/pdf', '.pdf'],
  ['audio/mpeg', '.mp3'],
  ['video/mp4', '.mp4'],
  ['video/webm', '.webm'],
]);

const fileEnding = (contentType: string | null): string =>
  endings.get((contentType ?? '').toLowerCase().split(';', 1)[0]?.trim() ?? '') ?? '';

function chips({ effectiveContentType, charms, curse, sat }: InscriptionView): HtmlValue {
  const shown = mediaOf(effectiveContentType) === 'frame' && !isSvg(effectiveContentType);
  return [
    html`<span class="chip">${isolated(shown ? 'HTML' : mediaWords(effectiveContentType))}</span> `,
    (charms ?? []).map((charm) => html`<span class="chip">${charm}</span> `),
    curse !== null && html`<span class="chip part">curse: ${curse}</span> `,
    sat !== null && satributeChips(sat.satributes, sat.number),
  ];
}

const none = (words: string): Markup => html`<span class="faint">${words}</span>`;

/** Makes rows of facts. For an unknown value every row gives the reason in the same words. */
function rowOf(view: InscriptionView): (name: string, value: HtmlValue) => Markup {
  const { why } = knownOf(view.facts);
  const unknown = html`<span class="faint">not known${why !== null && html`: ${why}`}</span>`;
  return (name, value) => html`<div><dt>${name}</dt><dd>${value ?? unknown}</dd></div>\n`;
}

const ifThere = (
  row: (name: string, value: HtmlValue) => Markup,
  name: string,
  value: HtmlValue,
): HtmlValue => value !== null && row(name, value);

function facts(view: InscriptionView): HtmlValue {
  const row = rowOf(view);
  return [
    row('Number', view.number === null ? null : grouped(view.number)),
    row('Block', html`${heightLink(view.height)}, ${timeWords(view.timestamp)}`),
    row('Owner', ownerWords(view)),
    row(
      'Content',
      view.contentLength === null
        ? none('no body')
        : html`${isolated(view.contentType) ?? 'no type'}, ${sizeWords(view.contentLength)}`,
    ),
    ifThere(row, 'Shows', view.delegate === null ? null : delegateWords(view)),
    ifThere(row, 'Sat', view.sat === null ? null : satLink(view.sat.number)),
    ifThere(row, 'Value of the output', view.value === null ? null : plural(view.value, 'sat')),
    ifThere(row, 'Collections', collectionList(view)),
  ];
}

function ownerWords({ address, place, charms }: InscriptionView): HtmlValue {
  if (address !== null) return addressLink(address, { isWhole: true });
  if (charms?.includes('burned') === true) return 'burned: no one can move it';
  if (place === 'lost') return 'lost to fees';
  if (place === 'unbound') return 'unbound: on no sat';
  return place === 'output' ? none('a script without an address') : null;
}

function delegateWords({ delegate, effectiveContentType }: InscriptionView): Markup {
  return html`${delegate !== null && idLink(delegate)}: ${isolated(effectiveContentType) ?? 'no type'}`;
}

function collectionList({ id, collections }: InscriptionView): HtmlValue {
  if (collections === null || collections.length === 0) return null;
  const more = collections.length > collectionsShown;
  const links = collections
    .slice(0, collectionsShown)
    .map(({ slug, name }) => html`<a class="wrap" href="/collection/${slug}">${strangersName(name)}</a><br>`);
  return html`${links}${more && html`<a href="/marketplace/data/collections/of/${id}">all of them, as JSON</a>`}`;
}

function neighbours(of: Neighbours | null): HtmlValue {
  if (of === null || (of.previous === null && of.next === null)) return null;
  return html`<nav class="neighbours" aria-label="In its collection"><p class="faint">In <a class="wrap" href="/collection/${of.collection.slug}">${strangersName(of.collection.name)}</a></p>
<p>${step(of.previous, '‹ Previous item', 'prev')} ${step(of.next, 'Next item ›', 'next')}</p></nav>`;
}

function step(id: string | null, words: string, rel: string): HtmlValue {
  return id !== null && html`<a class="button" href="/inscription/${id}" rel="${rel}">${words}</a>`;
}

function relatives({ id, parents, children, gallery, hasAllChildren }: InscriptionView): HtmlValue {
  return [
    parents !== null && artStrip(parents),
    artStrip(children),
    !hasAllChildren &&
      children.cards.length > 0 &&
      html`<p class="faint">Others may be in missing blocks.</p>`,
    html`<p class="more">${watchLink({ kind: 'children', parent: id }, 'Watch its children')}</p>`,
    artStrip(gallery),
  ];
}

function history({ id, pendingSales, events }: InscriptionView): HtmlValue {
  if (pendingSales.length === 0 && events.length === 0) return null;
  return html`<section><h2>History <span class="faint">newest first</span></h2>
${timeline(pendingSales, events)}
<p class="more"><a href="/inscription/${id}/transfers?order=desc">All transfers</a></p></section>`;
}

function record(view: InscriptionView): Markup {
  const row = rowOf(view);
  return html`<details class="record"><summary>The whole record</summary>
<dl class="table">${[
    row(
      'Id',
      html`<span class="copied"><span class="mono wrap">${view.id}</span>${copyButton(view.id)}</span>`,
    ),
    row(
      'Transaction',
      html`${transactionLink(view.txid, { isWhole: true })} <span class="faint">no. ${view.txIndex}, input ${view.input}</span>`,
    ),
    row('Fee', view.fee === null ? null : plural(view.fee, 'sat')),
    row('Place', placeWords(view)),
    row('Content type', isolated(view.contentType) ?? none('none')),
    ifThere(row, 'Encoding', isolated(view.contentEncoding)),
    ifThere(row, 'sha256', view.contentHash === null ? null : contentHashLink(view.contentHash)),
    row('Charms', charmWords(view.charms)),
    ifThere(row, 'Curse', view.curse),
    ifThere(row, 'Metaprotocol', isolated(view.metaprotocol)),
    row('Parents', view.parents === null ? null : countWords(view.parents)),
    ifThere(row, 'Refers to', view.references.length === 0 ? null : referenceList(view.references)),
  ]}</dl>
${recordJson('Metadata', view.metadataJson)}
${recordJson('Burn metadata', view.burnMetadataJson)}
${recordJson('Properties', view.propertiesJson)}
<p class="more"><a href="/indexer/inscription?id=${view.id}">The record as JSON</a></p>
</details>`;
}

const countWords = ({ cards, total }: ArtStripView): HtmlValue =>
  cards.length === 0 ? none('none') : grouped(total ?? cards.length);

function placeWords({ place, satpoint }: InscriptionView): HtmlValue {
  if (place === null || satpoint === null) return null;
  if (place === 'unbound') return 'unbound: on no sat';
  if (place === 'lost') return html`lost to fees, <span class="mono wrap">${satpoint}</span>`;
  return satpointLink(satpoint);
}

function charmWords(charms: readonly string[] | null): HtmlValue {
  if (charms === null) return null;
  return charms.length === 0
    ? none('none')
    : charms.map((charm) => html`<span class="chip">${charm}</span> `);
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

function idLink(id: string): Markup {
  return html`<a class="mono" href="/inscription/${id}" title="${id}">${shortHash(id)}</a>`;
}
