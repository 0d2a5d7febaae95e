import type { Height } from '#kernel/primitives/height.ts';
import { grouped, groupedDecimal, timeWords } from '#web/format.ts';
import { type HtmlValue, html, type Markup } from '#web/html.ts';
import { layout, type Site } from '#web/layout.ts';
import { copyButton, heightLink, inscriptionLink, transactionLink } from '#web/parts/identifiers.ts';
import { mintBar, percentWords } from '#web/parts/mint-bar.ts';
import { type RuneEventLine, runeEventsTable } from '#web/parts/rune-events.ts';
import { type NamedRune, runeHead } from '#web/parts/rune-head.ts';
import { runeSymbol } from '#web/parts/strangers-text.ts';
import { watchLink } from '#web/parts/watch-link.ts';

export interface RuneView {
  readonly site: Site;
  readonly rune: NamedRune;
  readonly number: number;
  /** Height of the etching. */
  readonly height: Height;
  readonly timestamp: number;
  /** `null` if no transaction etched the rune. */
  readonly etching: string | null;
  /** The inscription that the etching revealed. */
  readonly parent: string | null;
  readonly divisibility: number;
  readonly turbo: boolean;
  /**
   * Number of existing units: premined and minted units, without burned units. All amounts are in units of the rune.
   */
  readonly supply: string;
  /** The supply when all mints are used, if no more units are burned. */
  readonly supplyMax: string;
  readonly premine: string;
  readonly minted: string;
  readonly burned: string;
  /** `null` if no one can mint the rune. */
  readonly terms: RuneTermsView | null;
  /** The newest events. */
  readonly activity: readonly RuneEventLine[];
}

export interface RuneTermsView {
  readonly state: 'open' | 'not-begun' | 'ended' | 'used-up';
  readonly amount: string;
  readonly mints: number;
  readonly cap: string;
  readonly left: string;
  /** Used percentage of the cap, 0 to 100. */
  readonly percent: number;
  /** Heights of the first and the last block that can contain mints. `null` if there is no such bound. */
  readonly first: string | null;
  readonly last: string | null;
}

const stateWords: Readonly<Record<RuneTermsView['state'], string>> = {
  open: 'open now',
  'not-begun': 'not begun',
  ended: 'over',
  'used-up': 'used up',
};

export function runePage(view: RuneView): Markup {
  const { site, rune, terms, activity } = view;
  const { name, symbol } = rune;
  const row = (words: string, value: HtmlValue): Markup =>
    html`<div><dt>${words}</dt><dd>${value}</dd></div>\n`;
  const units = (amount: string): Markup => html`${groupedDecimal(amount)} ${runeSymbol(symbol)}`;
  return layout({
    title: `${name} · Rune · Satscribe`,
    description: `The rune ${name}: supply ${groupedDecimal(view.supply)}, ${mintingWords(terms)}. Its holders and events.`,
    site,
    main: html`<section>
${runeHead(rune, 'rune')}
<dl class="table">
${row('Supply', html`${units(view.supply)}${terms?.state !== 'ended' && view.supplyMax !== view.supply && html` <span class="faint">of at most ${units(view.supplyMax)}</span>`}`)}
${row('Premine', units(view.premine))}
${row('Minted', units(view.minted))}
${row('Burned', units(view.burned))}
${terms === null ? row('Minting', 'it cannot be minted: all units are from the premine') : termsRows(terms, name, row, units)}
${row('Symbol', runeSymbol(symbol) ?? html`<span class="faint">none</span>`)}
${row('Decimals', view.divisibility)}
${row('Number', grouped(view.number))}
${row('Id', html`<span class="copied"><span class="mono">${rune.id}</span>${copyButton(rune.id)}</span>`)}
${row('Etched in', html`block ${heightLink(view.height)}, ${timeWords(view.timestamp)}`)}
${row('Etching', view.etching === null ? html`<span class="faint">no transaction etched it: it is part of the rules</span>` : transactionLink(view.etching, { isWhole: true }))}
${view.parent !== null && row('Inscription', inscriptionLink({ id: view.parent, number: null }, { isWhole: true }))}
${row('Turbo', view.turbo ? 'yes: the rune takes part in future changes of the rules' : 'no')}
</dl>
${isMintable(terms) && html`<p class="tools">${watchLink({ kind: 'runes', event: 'minted-out', rune: name }, 'Watch for its last mint')}</p>`}
${activity.length > 0 && html`<h2>Latest events</h2>\n${runeEventsTable(activity, symbol)}`}
</section>`,
  });
}

/** Whether a later block can use the last mint. */
const isMintable = (terms: RuneTermsView | null): boolean =>
  terms !== null && (terms.state === 'open' || terms.state === 'not-begun');

function mintingWords(terms: RuneTermsView | null): string {
  if (terms === null) return 'it cannot be minted';
  return `${grouped(terms.mints)} of ${groupedDecimal(terms.cap)} mints used`;
}

function termsRows(
  { state, amount, mints, cap, left, percent, first, last }: RuneTermsView,
  name: string,
  row: (words: string, value: HtmlValue) => Markup,
  units: (amount: string) => Markup,
): HtmlValue {
  const chip = html`<span class="chip${state === 'open' && ' yes'}">${stateWords[state]}</span>`;
  return [
    row(
      'Minting',
      html`${chip} ${boundsWords(first, last)}${state === 'open' && html` · <a href="/mint-rune?rune=${encodeURIComponent(name)}">Mint it</a>`}`,
    ),
    row('Amount of a mint', units(amount)),
    row(
      'Mints',
      html`${grouped(mints)} of ${groupedDecimal(cap)} (${percentWords(percent)}), ${groupedDecimal(left)} left<br>${mintBar(percent, `Mints of ${name}`)}`,
    ),
  ];
}

function boundsWords(first: string | null, last: string | null): string {
  if (first === null && last === null) return 'at any height';
  const words = [
    first !== null && `from block ${groupedDecimal(first)}`,
    last !== null && `until block ${groupedDecimal(last)}`,
  ];
  return words.filter((part) => part !== false).join(' ');
}
