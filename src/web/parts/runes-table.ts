import type { Height } from '#kernel/primitives/height.ts';
import { grouped, groupedDecimal } from '#web/format.ts';
import { html, type Markup } from '#web/html.ts';
import { runeHref } from './held-runes.ts';
import { heightLink } from './identifiers.ts';
import { mintBar } from './mint-bar.ts';
import { runeSymbol } from './strangers-text.ts';

/** A rune in a list. */
export interface RuneLine {
  /** The name with spacers. */
  readonly name: string;
  readonly symbol: string | null;
  readonly id: string;
  readonly number: number;
  readonly height: Height;
  readonly mints: number;
  /** `null` if the rune cannot be minted. */
  readonly cap: string | null;
  /** Used percentage of the rune's mints, 0 to 100. `null` if the rune has no terms for mints. */
  readonly mintedPercent: number | null;
  /** Whether the next block can mint the rune. */
  readonly isOpen: boolean;
}

/**
 * A table of runes.
 *
 * @param isOfOneBlock whether the page already says which block etched the runes
 */
export function runesTable(runes: readonly RuneLine[], isOfOneBlock = false): Markup {
  return html`<div class="scroll"><table class="rows stacked">
<thead><tr><th scope="col">Rune</th><th scope="col" class="num">Number</th><th scope="col">Id</th>${!isOfOneBlock && html`<th scope="col">Etched in</th>`}<th scope="col">Mints</th></tr></thead>
<tbody>
${runes.map((rune) => runeRow(rune, isOfOneBlock))}
</tbody>
</table></div>`;
}

function runeRow(rune: RuneLine, isOfOneBlock: boolean): Markup {
  const { name, symbol, id, number, height } = rune;
  return html`<tr>
  <th scope="row"><span><a href="${runeHref(name)}">${name}</a> ${runeSymbol(symbol)}</span></th>
  <td class="num" data-label="Number">${grouped(number)}</td>
  <td class="mono" data-label="Id">${id}</td>
  ${!isOfOneBlock && html`<td class="nowrap" data-label="Etched in">${heightLink(height)}</td>`}
  <td data-label="Mints">${mintsCell(rune)}</td>
</tr>
`;
}

function mintsCell({ name, mints, cap, mintedPercent, isOpen }: RuneLine): Markup {
  if (cap === null || mintedPercent === null) return html`<span class="faint">cannot be minted</span>`;
  const chip = isOpen ? html`<span class="chip yes">open</span>` : html`<span class="chip">closed</span>`;
  return html`<span class="mints">${mintBar(mintedPercent, `Mints of ${name}`)} <span>${grouped(mints)} of ${groupedDecimal(cap)}</span> ${chip}</span>`;
}
