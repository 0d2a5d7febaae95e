import type { Height } from '#kernel/primitives/height.ts';
import { grouped, groupedDecimal, timeWords } from '#web/format.ts';
import { type HtmlValue, html, type Markup } from '#web/html.ts';
import { layout, type Site } from '#web/layout.ts';
import { runeHref } from '#web/parts/held-runes.ts';
import { runeSymbol } from '#web/parts/strangers-text.ts';

/** A rune in a list. */
export interface RuneLine {
  /** With spacers. */
  readonly name: string;
  readonly symbol: string | null;
  readonly id: string;
  readonly number: number;
  readonly height: Height;
  readonly mints: number;
  /** Null: nobody can mint it. */
  readonly cap: string | null;
}

export interface RunesView {
  readonly site: Site;
  readonly runes: readonly RuneLine[];
  /** Of all runes. */
  readonly count: number;
  /** Counts from 0. */
  readonly page: number;
  readonly hasNext: boolean;
}

export function runesPage({ site, runes, count, page, hasNext }: RunesView): Markup {
  const empty = count === 0 ? 'No rune is etched here yet.' : `Page ${page} is past the end.`;
  return layout({
    title: 'Runes · Satscribe',
    site,
    main: html`<section>
<h1>Runes</h1>
<p class="faint">${grouped(count)} etched, the newest first</p>
${runes.length > 0 ? runesTable(runes) : html`<p class="empty">${empty}</p>`}
<p class="steps"><span>${page > 0 && html`<a href="${page === 1 ? '/runes' : `/runes/${page - 1}`}" rel="prev">‹ Newer</a>`}</span><span>${hasNext && html`<a href="/runes/${page + 1}" rel="next">Older ›</a>`}</span></p>
</section>`,
  });
}

function runesTable(runes: readonly RuneLine[]): Markup {
  return html`<div class="scroll"><table class="rows">
<thead><tr><th scope="col">Rune</th><th scope="col" class="num">Number</th><th scope="col">Id</th><th scope="col">Etched in</th><th scope="col" class="num">Mints</th></tr></thead>
<tbody>
${runes.map(
  ({ name, symbol, id, number, height, mints, cap }) => html`<tr>
  <th scope="row"><a href="${runeHref(name)}">${name}</a> ${runeSymbol(symbol)}</th>
  <td class="num">${grouped(number)}</td>
  <td class="mono">${id}</td>
  <td class="nowrap"><a href="/block/${height}">block ${grouped(height)}</a></td>
  <td class="num nowrap">${grouped(mints)}${cap !== null && ` of ${groupedDecimal(cap)}`}</td>
</tr>
`,
)}
</tbody>
</table></div>`;
}

/** What happened to a rune. */
export interface RuneEventLine {
  readonly kind: string;
  readonly amount: string;
  readonly height: Height;
  readonly txid: string;
  readonly address: string | null;
}

export interface RuneView {
  readonly site: Site;
  readonly name: string;
  readonly symbol: string | null;
  readonly id: string;
  readonly number: number;
  /** Of the etching. */
  readonly height: Height;
  readonly timestamp: number;
  /** Null: nobody etched it. */
  readonly etching: string | null;
  /** The inscription that the etching revealed. */
  readonly parent: string | null;
  readonly divisibility: number;
  readonly turbo: boolean;
  /** Amounts are in units of the rune. */
  readonly premine: string;
  readonly minted: string;
  readonly burned: string;
  /** Null: nobody can mint it. */
  readonly terms: RuneTermsView | null;
  /** The newest of what happened. */
  readonly activity: readonly RuneEventLine[];
}

export interface RuneTermsView {
  readonly state: 'open' | 'not-begun' | 'ended' | 'used-up';
  readonly amount: string;
  readonly mints: number;
  readonly cap: string;
  /** Heights: the first, and the first that is too late. Null: no bound. */
  readonly start: string | null;
  readonly end: string | null;
}

const stateWords: Readonly<Record<RuneTermsView['state'], string>> = {
  open: 'open',
  'not-begun': 'not begun',
  ended: 'over',
  'used-up': 'used up',
};

export function runePage(view: RuneView): Markup {
  const { site, name, symbol, id, number, terms, activity } = view;
  const row = (words: string, value: HtmlValue): Markup =>
    html`<div><dt>${words}</dt><dd>${value}</dd></div>\n`;
  const units = (amount: string): Markup => html`${groupedDecimal(amount)} ${runeSymbol(symbol)}`;
  return layout({
    title: `${name} · Rune · Satscribe`,
    site,
    main: html`<section>
<h1 class="wrap">${name}</h1>
<dl class="table">
${row('Symbol', runeSymbol(symbol) ?? html`<span class="faint">none</span>`)}
${row('Number', grouped(number))}
${row('Id', html`<span class="mono">${id}</span>`)}
${row('Etched in', html`<a href="/block/${view.height}">block ${grouped(view.height)}</a>, ${timeWords(view.timestamp)}`)}
${row('Etching', view.etching === null ? html`<span class="faint">nobody etched it: it is part of the rules</span>` : html`<span class="mono wrap">${view.etching}</span>`)}
${view.parent !== null && row('Inscription', html`<a class="mono wrap" href="/inscription/${view.parent}">${view.parent}</a>`)}
${row('Decimals', view.divisibility)}
${row('Premine', units(view.premine))}
${row('Minted', units(view.minted))}
${row('Burned', units(view.burned))}
${row('Turbo', view.turbo ? 'yes: it takes part in future changes of the rules' : 'no')}
${terms === null ? row('Minting', 'nobody can mint it') : termsRows(terms, row, units)}
</dl>
<p class="tools">${list(id).map(({ words, href }) => html`<a href="${href}">${words}</a> `)}</p>
${activity.length > 0 && activityTable(activity, units)}
</section>`,
  });
}

const list = (id: string): { words: string; href: string }[] => [
  { words: 'Holders', href: `/rune/${id}/holders` },
  { words: 'All that happened', href: `/rune/${id}/activity` },
  { words: 'Minting', href: `/rune/${id}/minting` },
];

function termsRows(
  { state, amount, mints, cap, start, end }: RuneTermsView,
  row: (words: string, value: HtmlValue) => Markup,
  units: (amount: string) => Markup,
): HtmlValue {
  const chip = html`<span class="chip${state === 'open' && ' yes'}">${stateWords[state]}</span>`;
  const bounds = [
    start !== null && `from block ${groupedDecimal(start)} on`,
    end !== null && `before block ${groupedDecimal(end)}`,
  ].filter((words) => words !== false);
  return [
    row('Minting', html`${chip} ${bounds.join(', ')}`),
    row('A mint gives', units(amount)),
    row('Mints', `${grouped(mints)} of ${groupedDecimal(cap)}`),
  ];
}

function activityTable(activity: readonly RuneEventLine[], units: (amount: string) => Markup): Markup {
  return html`<h2>What happened last</h2>
<div class="scroll"><table class="rows">
<thead><tr><th scope="col">What</th><th scope="col" class="num">Amount</th><th scope="col">Block</th><th scope="col">To</th><th scope="col">Transaction</th></tr></thead>
<tbody>
${activity.map(
  ({ kind, amount, height, txid, address }) => html`<tr>
  <th scope="row">${kind}</th>
  <td class="num nowrap">${units(amount)}</td>
  <td><a href="/block/${height}">${grouped(height)}</a></td>
  <td>${address !== null && html`<a class="mono wrap" href="/address/${address}">${address}</a>`}</td>
  <td class="mono wrap">${txid}</td>
</tr>
`,
)}
</tbody>
</table></div>`;
}
