import type { Height } from '#kernel/primitives/height.ts';
import { grouped, plural, timeWords } from '#web/format.ts';
import { type HtmlValue, html, type Markup } from '#web/html.ts';
import { layout, type Site } from '#web/layout.ts';
import {
  addressLink,
  copyButton,
  heightLink,
  inscriptionLink,
  outputLink,
  satLink,
} from '#web/parts/identifiers.ts';

export interface SatView {
  readonly site: Site;
  readonly sat: number;
  readonly name: string;
  readonly decimal: string;
  readonly degree: string;
  readonly percentile: string;
  readonly rarity: string;
  readonly charms: readonly string[];
  /** The satributes of the sat, each with the reason. */
  readonly satributes: readonly SatributeReason[];
  /** Satributes that the sat may have. This server does not know all sats with these satributes. */
  readonly unknownSatributes: readonly UnknownSatribute[];
  readonly height: Height;
  readonly offset: number;
  /** Time of the sat's block in Unix seconds. `null` if unknown. */
  readonly time: number | null;
  /** Whether the block does not exist yet. If so, its time is an estimate. */
  readonly isExpected: boolean;
  /** `null` if this server has no index of sats. */
  readonly place: SatPlaceView | null;
  readonly previous: number | null;
  readonly next: number | null;
}

interface SatributeReason {
  readonly id: string;
  readonly title: string;
  readonly about: string;
  /** The range of the rule's list that contains the sat. `end` is the first sat after the range. */
  readonly range: { readonly start: number; readonly end: number };
}

interface UnknownSatribute {
  readonly id: string;
  readonly title: string;
  readonly why: string;
}

export interface SatPlaceView {
  /**
   * `null` if unknown. The index knows only the locations of sats that are not common, and of sats with inscriptions.
   */
  readonly satpoint: string | null;
  readonly address: string | null;
  /** The first inscriptions on the sat. */
  readonly inscriptions: readonly string[];
  readonly inscriptionCount: number;
}

export function satPage(view: SatView): Markup {
  const { site, sat, name, charms, height, place, previous, next } = view;
  const row = (words: string, value: HtmlValue): Markup =>
    html`<div><dt>${words}</dt><dd>${value}</dd></div>\n`;
  return layout({
    title: `Sat ${sat} · Satscribe`,
    description: `Sat ${grouped(sat)}, named ${name}: its rarity, satributes, inscriptions and place.`,
    site,
    main: html`<section>
<h1 class="wrap">Sat ${grouped(sat)}</h1>
<dl class="table">
${row('Number', copied(String(sat)))}
${row('Name', copied(name))}
${row('Decimal', copied(view.decimal))}
${row('Degree', copied(view.degree))}
${row('Percentile', copied(view.percentile))}
${row('Rarity', html`<span class="chip${view.rarity !== 'common' && ' yes'}">${view.rarity}</span>`)}
${row('Charms', charms.length === 0 ? none : charms.map((charm) => html`<span class="chip">${charm}</span> `))}
${row('Mined', html`${blockWords(view)}, no. ${grouped(view.offset)} of its subsidy`)}
${placeRows(place, row)}
</dl>
${satributesOf(view)}
<nav class="steps" aria-label="Neighbours"><span>${previous !== null && html`<a href="/sat/${previous}" rel="prev">‹ ${grouped(previous)}</a>`}</span><span>${next !== null && html`<a href="/sat/${next}" rel="next">${grouped(next)} ›</a>`}</span></nav>
</section>`,
  });

  function blockWords({ time, isExpected }: SatView): HtmlValue {
    if (isExpected) return html`in block ${grouped(height)}, which is still to come`;
    const when = time === null ? '' : `, ${timeWords(time)}`;
    return html`in block ${heightLink(height)}${when}`;
  }
}

const copied = (text: string): Markup =>
  html`<span class="copied"><span class="mono wrap">${text}</span>${copyButton(text)}</span>`;

/** The satributes of a sat, each with the rule that it follows from. */
function satributesOf({ sat, satributes, unknownSatributes }: SatView): Markup {
  const known =
    satributes.length === 0
      ? html`<p class="faint">It has no satribute that is known here.</p>`
      : html`<div class="scroll"><table class="rows stacked">
<thead><tr><th scope="col">Satribute</th><th scope="col">Meaning</th><th scope="col">Reason</th></tr></thead>
<tbody>
${satributes.map(
  ({ id, title, about, range }) =>
    html`<tr><th scope="row"><a href="/satributes/${id}?sat=${sat}">${title}</a></th><td>${about}</td><td data-label="Because"><span>${rangeWords(range)}</span></td></tr>\n`,
)}
</tbody>
</table></div>`;
  const unknown =
    unknownSatributes.length > 0 &&
    html`<details><summary>${plural(unknownSatributes.length, 'satribute')} that it may have</summary>
<ul>${unknownSatributes.map(({ id, title, why }) => html`<li><a href="/satributes/${id}">${title}</a>: ${why}</li>`)}</ul></details>`;
  return html`<h2>Satributes</h2>
${known}
${unknown}
<p class="tools"><a href="/sat/${sat}/satributes">Its satributes, as JSON</a></p>`;
}

function rangeWords({ start, end }: SatributeReason['range']): HtmlValue {
  return end - start === 1
    ? 'the rule names this sat'
    : html`one of the ${plural(end - start, 'sat')} from ${satLink(start)} to ${satLink(end - 1)}`;
}

const none = html`<span class="faint">none</span>`;

/**
 * The location of a sat in words.
 *
 * @param satpoint `<txid>:<index>:<offset>`
 */
function placeWords(satpoint: string): Markup {
  const at = satpoint.lastIndexOf(':');
  return html`sat ${satpoint.slice(at + 1)} of output ${outputLink(satpoint.slice(0, at))}`;
}

function placeRows(place: SatPlaceView | null, row: (words: string, value: HtmlValue) => Markup): HtmlValue {
  if (place === null)
    return row('Place', html`<span class="faint">unknown: this server has no index of sats</span>`);
  const { satpoint, address, inscriptions, inscriptionCount } = place;
  const more = inscriptionCount - inscriptions.length;
  return [
    row(
      'Place',
      satpoint === null
        ? html`<span class="faint">unknown: the index only has the places of rare or inscribed sats</span>`
        : placeWords(satpoint),
    ),
    address !== null && row('Address', addressLink(address, { isWhole: true })),
    row(
      'Inscriptions',
      inscriptions.length === 0
        ? none
        : html`${inscriptions.map((id) => html`<div>${inscriptionLink({ id, number: null }, {})}</div>`)}${more > 0 && html`<span class="faint">and ${grouped(more)} more</span>`}`,
    ),
  ];
}
