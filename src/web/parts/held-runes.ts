import { type HtmlValue, html, type Markup } from '#web/html.ts';
import { runeSymbol, strangersName } from '#web/parts/strangers-text.ts';

/** A rune that an owner holds. */
export interface HeldRune {
  readonly name: string;
  /** Units of the rune, in decimal digits. */
  readonly amount: string;
  readonly symbol: string | null;
}

export const runeHref = (name: string): string => `/rune/${encodeURIComponent(name)}`;

/**
 * The name of a rune. The name links to the rune's page if a block has etched the rune. The argument `name` is null if
 * the block will assign the name.
 */
export function runeName({
  name,
  isEtched,
}: {
  readonly name: string | null;
  readonly isEtched: boolean;
}): HtmlValue {
  if (name === null) return 'a rune that is not etched yet';
  return isEtched
    ? html`<a class="wrap" href="${runeHref(name)}">${strangersName(name)}</a>`
    : html`<span class="wrap">${strangersName(name)}</span>`;
}

/** A table of an owner's runes. `null` if the owner has no runes. */
export function heldRunesTable(runes: readonly HeldRune[]): Markup | null {
  if (runes.length === 0) return null;
  return html`<div class="scroll"><table class="rows">
<thead><tr><th scope="col">Rune</th><th scope="col" class="num">Amount</th></tr></thead>
<tbody>
${runes.map(
  ({ name, amount, symbol }) =>
    html`<tr><th scope="row"><a href="${runeHref(name)}">${name}</a></th><td class="num">${amount} ${runeSymbol(symbol)}</td></tr>\n`,
)}
</tbody>
</table></div>`;
}
