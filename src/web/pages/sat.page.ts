import type { Height } from '#kernel/primitives/height.ts';
import { grouped, plural, shortHash, timeWords } from '#web/format.ts';
import { type HtmlValue, html, type Markup } from '#web/html.ts';
import { layout, type Site } from '#web/layout.ts';
import { type SatributeName, satributeChips } from '#web/parts/satribute-chips.ts';

export interface SatView {
  readonly site: Site;
  readonly sat: number;
  readonly name: string;
  readonly decimal: string;
  readonly degree: string;
  readonly percentile: string;
  readonly rarity: string;
  readonly charms: readonly string[];
  readonly satributes: readonly SatributeName[];
  readonly height: Height;
  readonly offset: number;
  /** Unix seconds of its block. Null: not known. */
  readonly time: number | null;
  /** The block is still to come, and its time expected. */
  readonly isExpected: boolean;
  /** Null: this server has no index of sats. */
  readonly place: SatPlaceView | null;
  readonly previous: number | null;
  readonly next: number | null;
}

export interface SatPlaceView {
  /** Null: not known. The index knows the places of sats that are not common, and of those with inscriptions. */
  readonly satpoint: string | null;
  readonly address: string | null;
  /** The first of them. */
  readonly inscriptions: readonly string[];
  readonly inscriptionCount: number;
}

export function satPage(view: SatView): Markup {
  const { site, sat, name, charms, satributes, height, place, previous, next } = view;
  const row = (words: string, value: HtmlValue): Markup =>
    html`<div><dt>${words}</dt><dd>${value}</dd></div>\n`;
  return layout({
    title: `Sat ${sat} · Satscribe`,
    site,
    main: html`<section>
<h1>Sat ${grouped(sat)}</h1>
<dl class="table">
${row('Name', html`<span class="mono">${name}</span>`)}
${row('Decimal', html`<span class="mono">${view.decimal}</span>`)}
${row('Degree', html`<span class="mono">${view.degree}</span>`)}
${row('Percentile', html`<span class="mono">${view.percentile}</span>`)}
${row('Rarity', html`<span class="chip${view.rarity !== 'common' && ' yes'}">${view.rarity}</span>`)}
${row('Charms', charms.length === 0 ? none : charms.map((charm) => html`<span class="chip">${charm}</span> `))}
${row('Satributes', satributes.length === 0 ? none : satributeChips(satributes, sat))}
${row('Mined', html`${blockWords(view)}, no. ${grouped(view.offset)} of its subsidy`)}
${placeRows(place, row)}
</dl>
<p class="tools"><a href="/sat/${sat}/satributes">Satributes that cannot be told</a></p>
<p class="steps"><span>${previous !== null && html`<a href="/sat/${previous}" rel="prev">‹ ${grouped(previous)}</a>`}</span><span>${next !== null && html`<a href="/sat/${next}" rel="next">${grouped(next)} ›</a>`}</span></p>
</section>`,
  });

  function blockWords({ time, isExpected }: SatView): HtmlValue {
    if (isExpected) return html`in block ${grouped(height)}, which is still to come`;
    const when = time === null ? '' : `, ${timeWords(time)}`;
    return html`in <a href="/block/${height}">block ${grouped(height)}</a>${when}`;
  }
}

const none = html`<span class="faint">none</span>`;

function placeRows(place: SatPlaceView | null, row: (words: string, value: HtmlValue) => Markup): HtmlValue {
  if (place === null)
    return row('Place', html`<span class="faint">not known: this server has no index of sats</span>`);
  const { satpoint, address, inscriptions, inscriptionCount } = place;
  const more = inscriptionCount - inscriptions.length;
  return [
    row(
      'Place',
      satpoint === null
        ? html`<span class="faint">not known: the index has those of sats that are rare or inscribed</span>`
        : html`<span class="mono wrap">${satpoint}</span>`,
    ),
    address !== null && row('Address', html`<a class="mono wrap" href="/address/${address}">${address}</a>`),
    row(
      plural(inscriptionCount, 'inscription'),
      inscriptions.length === 0
        ? none
        : html`${inscriptions.map((id) => html`<a class="mono" href="/inscription/${id}" title="${id}">${shortHash(id)}</a><br>`)}${more > 0 && html`<span class="faint">and ${grouped(more)} more</span>`}`,
    ),
  ];
}
