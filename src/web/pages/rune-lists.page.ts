import type { Height } from '#kernel/primitives/height.ts';
import { grouped, groupedDecimal, plural } from '#web/format.ts';
import { type HtmlValue, html, type Markup } from '#web/html.ts';
import { layout, type Site } from '#web/layout.ts';
import { runeHref } from '#web/parts/held-runes.ts';
import { addressLink, copyButton, heightLink } from '#web/parts/identifiers.ts';
import { type RuneEventLine, runeEventsTable } from '#web/parts/rune-events.ts';
import { type NamedRune, runeHead } from '#web/parts/rune-head.ts';
import { runeSymbol } from '#web/parts/strangers-text.ts';

/** A holder of a rune. */
export interface HolderLine {
  readonly address: string | null;
  /** The script in hex. `null` if the script is longer than 128 bytes. */
  readonly script: string | null;
  readonly scriptSha256: string | null;
  /** Amount in units of the rune. */
  readonly amount: string;
  /** Percentage of all held units, 0 to 100. */
  readonly percent: number;
  readonly outputs: number;
}

export interface RuneHoldersView {
  readonly site: Site;
  readonly rune: NamedRune;
  /** The height of the last block that the balances of the holders include. */
  readonly height: Height;
  /** Number of all holders. */
  readonly count: number;
  /** Number of held units. All amounts are in units of the rune. */
  readonly held: string;
  readonly burned: string;
  readonly minted: string;
  readonly premine: string;
  /** Whether the sum of held and burned units equals the sum of minted and premined units. */
  readonly isProven: boolean;
  /** The rank of the first holder on the page, from 1. */
  readonly rank: number;
  readonly holders: readonly HolderLine[];
  /** The query of the first page. `null` if this is the first page. */
  readonly first: string | null;
  /** The query of the next page. `null` if this is the last page. */
  readonly next: string | null;
}

/** The page of a rune's holders, largest first. */
export function runeHoldersPage(view: RuneHoldersView): Markup {
  const { site, rune, height, count, holders } = view;
  const units = (amount: string): Markup => html`${groupedDecimal(amount)} ${runeSymbol(rune.symbol)}`;
  return layout({
    title: `Holders of ${rune.name} · Satscribe`,
    description: `The ${plural(count, 'holder')} of the rune ${rune.name}, largest first.`,
    site,
    main: html`<section>
${runeHead(rune, 'holders')}
<p>${plural(count, 'holder')} after block ${heightLink(height)}, largest first. They hold ${units(view.held)}.</p>
<p class="faint">${proofWords(view, units)}</p>
${holders.length > 0 ? holdersTable(view, units) : html`<p class="empty">${count === 0 ? 'No one holds it.' : 'This is past the last holder.'}</p>`}
${listSteps(`${runeHref(rune.name)}/holders`, view)}
</section>`,
  });
}

function proofWords(
  { isProven, burned, minted, premine }: RuneHoldersView,
  units: (amount: string) => Markup,
): Markup {
  const made = html`${units(premine)} premined and ${units(minted)} minted`;
  const kept = html`the held units and ${units(burned)} burned`;
  return isProven
    ? html`Proven: ${made} equal ${kept}.`
    : html`A sum is wrong here: ${made} do not equal ${kept}. Please report this.`;
}

function holdersTable({ holders, rank }: RuneHoldersView, units: (amount: string) => Markup): Markup {
  return html`<div class="scroll"><table class="rows stacked">
<thead><tr><th scope="col" class="num">Rank</th><th scope="col">Owner</th><th scope="col" class="num">Amount</th><th scope="col" class="num">Share</th><th scope="col" class="num">Outputs</th></tr></thead>
<tbody>
${holders.map(
  (holder, place) => html`<tr>
  <td class="num" data-label="Rank">${grouped(rank + place)}</td>
  <th scope="row" data-label="Owner">${ownerOf(holder)}</th>
  <td class="num" data-label="Amount"><span>${units(holder.amount)}</span></td>
  <td class="num" data-label="Share">${holder.percent.toFixed(2)} %</td>
  <td class="num" data-label="Outputs">${grouped(holder.outputs)}</td>
</tr>
`,
)}
</tbody>
</table></div>`;
}

/** Number of characters of a script that are shown. The copy button copies the complete script. */
const scriptChars = 24;

function ownerOf({ address, script, scriptSha256 }: HolderLine): HtmlValue {
  if (address !== null) return addressLink(address);
  if (script !== null)
    return html`<span class="copied"><span>script <span class="mono" title="${script}">${script.slice(0, scriptChars)}${script.length > scriptChars && '…'}</span></span>${copyButton(script)}</span>`;
  return scriptSha256 === null
    ? html`<span class="faint">unknown</span>`
    : html`<span class="copied"><span>script with sha256 <span class="mono">${scriptSha256.slice(0, scriptChars)}…</span></span>${copyButton(scriptSha256)}</span>`;
}

export interface RuneActivityView {
  readonly site: Site;
  readonly rune: NamedRune;
  readonly isOldestFirst: boolean;
  readonly events: readonly RuneEventLine[];
  /** The query of the first page. `null` if this is the first page. */
  readonly first: string | null;
  /** The query of the next page. `null` if this is the last page. */
  readonly next: string | null;
}

/** The page of a rune's events. */
export function runeActivityPage(view: RuneActivityView): Markup {
  const { site, rune, isOldestFirst, events } = view;
  const path = `${runeHref(rune.name)}/activity`;
  return layout({
    title: `Activity of ${rune.name} · Satscribe`,
    description: `Etching, mints, transfers and burns of the rune ${rune.name}.`,
    site,
    main: html`<section>
${runeHead(rune, 'activity')}
<p>Etching, mints, transfers and burns, ${isOldestFirst ? 'oldest' : 'newest'} first. <a href="${path}${!isOldestFirst && '?order=asc'}">${isOldestFirst ? 'Newest' : 'Oldest'} first</a></p>
${events.length > 0 ? runeEventsTable(events, rune.symbol) : html`<p class="empty">This rune has no events yet.</p>`}
${listSteps(path, view)}
</section>`,
  });
}

/** Links to the first and to the next page of a list with cursors. */
function listSteps(path: string, { first, next }: Pick<RuneActivityView, 'first' | 'next'>): Markup | null {
  if (first === null && next === null) return null;
  return html`<nav class="steps" aria-label="Pages"><span>${first !== null && html`<a href="${path}${first !== '' && '?'}${first}">« First page</a>`}</span><span>${next !== null && html`<a href="${path}?${next}" rel="next">Next page ›</a>`}</span></nav>`;
}
