import type { Height } from '#kernel/primitives/height.ts';
import { unreachable } from '#kernel/unreachable.ts';
import { grouped } from '#web/format.ts';
import { type HtmlValue, html, type Markup } from '#web/html.ts';
import { satsWords, unknownWords } from './facts.ts';
import { type HeldRune, runeHref } from './held-runes.ts';
import { addressLink, heightLink, inscriptionLink, outputLink, transactionLink } from './identifiers.ts';
import { runeSymbol, strangersName } from './strangers-text.ts';

/** The known contents of an output. */
export interface HoldingsView {
  /** The first inscriptions in the output. */
  readonly inscriptions: readonly { readonly id: string; readonly number: number | null }[];
  readonly inscriptionCount: number;
  readonly runes: readonly HeldRune[];
  readonly runeCount: number;
  /** Special sats. Empty if there is no index of sats. */
  readonly satributes: readonly { readonly id: string; readonly title: string; readonly count: number }[];
  /** The unknown facts about the output, in words. `null` if all facts are known. */
  readonly unknown: string | null;
}

/** Whether an output is spent, and by which transaction. */
export type SpentState =
  | { readonly kind: 'unspent' }
  | { readonly kind: 'pending'; readonly txid: string | null }
  | { readonly kind: 'spent'; readonly txid: string | null; readonly height: Height | null }
  | { readonly kind: 'unspendable' }
  | { readonly kind: 'unknown' };

export interface OutputLine {
  readonly outpoint: string;
  readonly value: number | null;
  readonly address: string | null;
  /** The type of the script, in words. */
  readonly script: string | null;
  readonly spent: SpentState;
  readonly holds: HoldingsView;
}

/** A table of outputs of a transaction or of an address. */
export function outputsTable(lines: readonly OutputLine[]): Markup {
  return html`<div class="scroll"><table class="rows stacked">
<thead><tr><th scope="col">Output</th><th scope="col">Pays</th><th scope="col" class="num">Value</th><th scope="col">Holds</th><th scope="col">Spent</th></tr></thead>
<tbody>
${lines.map(
  (line) => html`<tr>
  <th scope="row" data-label="Output">${outputLink(line.outpoint)}</th>
  <td data-label="Pays">${ownerWords(line)}</td>
  <td class="num" data-label="Value">${line.value === null ? unknownWords(null) : satsWords(line.value)}</td>
  <td data-label="Holds">${holdingsWords(line.holds)}</td>
  <td data-label="Spent">${spentWords(line.spent)}</td>
</tr>
`,
)}
</tbody>
</table></div>`;
}

/** The address of a script. If the script has no address, this is the type of the script. */
export function ownerWords(
  { address, script }: Pick<OutputLine, 'address' | 'script'>,
  isWhole = false,
): HtmlValue {
  if (address !== null) return addressLink(address, { isWhole });
  return script === null ? unknownWords(null) : html`<span class="faint">${script}</span>`;
}

export function holdingsWords(holds: HoldingsView): HtmlValue {
  const { inscriptions, inscriptionCount, runes, runeCount, satributes, unknown } = holds;
  const more = (shown: number, count: number): HtmlValue =>
    count > shown && html`<span class="faint">and ${grouped(count - shown)} more</span> `;
  const isEmpty = inscriptionCount === 0 && runeCount === 0 && satributes.length === 0;
  if (isEmpty) return unknown === null ? html`<span class="faint">sats only</span>` : unknownWords(unknown);
  return html`<span class="holds">${inscriptions.map((each) => html`${inscriptionLink(each)} `)}${more(inscriptions.length, inscriptionCount)}${runes.map(
    ({ name, amount, symbol }) =>
      html`<span>${amount} ${runeSymbol(symbol)} <a class="wrap" href="${runeHref(name)}">${strangersName(name)}</a></span> `,
  )}${more(runes.length, runeCount)}${satributes.map(
    ({ id, title, count }) =>
      html`<a class="chip" href="/satributes/${id}">${title}${count > 1 && ` ×${grouped(count)}`}</a> `,
  )}${unknown !== null && html`<span class="faint">${unknown}</span>`}</span>`;
}

export function spentWords(spent: SpentState): HtmlValue {
  switch (spent.kind) {
    case 'unspent':
      return html`<span class="chip yes">unspent</span>`;
    case 'unspendable':
      return html`<span class="faint">cannot be spent</span>`;
    case 'unknown':
      return unknownWords(null);
    case 'pending':
      return html`<span class="chip part">spent in the mempool</span>${spent.txid !== null && html` by ${transactionLink(spent.txid)}`}`;
    case 'spent':
      return html`<span class="chip">spent</span>${spent.height !== null && html` in block ${heightLink(spent.height)}`}${spent.txid !== null && html` by ${transactionLink(spent.txid)}`}`;
    default:
      return unreachable(spent);
  }
}
