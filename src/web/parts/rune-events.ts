import type { Height } from '#kernel/primitives/height.ts';
import { groupedDecimal } from '#web/format.ts';
import { html, type Markup } from '#web/html.ts';
import { addressLink, heightLink, outputLink, transactionLink } from '#web/parts/identifiers.ts';
import { runeSymbol } from '#web/parts/strangers-text.ts';

/** An event of a rune. */
export interface RuneEventLine {
  readonly kind: 'minted' | 'etched' | 'transferred' | 'burned';
  /** Amount in units of the rune. */
  readonly amount: string;
  readonly height: Height;
  readonly txid: string;
  /** The output that got the units. `null` if the event is not a transfer. */
  readonly output: string | null;
  /** The address of `output`. `null` if the output has no address, or if the event is not a transfer. */
  readonly address: string | null;
}

/** A table of a rune's events, in the order of `events`. */
export function runeEventsTable(events: readonly RuneEventLine[], symbol: string | null): Markup {
  return html`<div class="scroll"><table class="rows stacked">
<thead><tr><th scope="col">Event</th><th scope="col" class="num">Amount</th><th scope="col">Block</th><th scope="col">To</th><th scope="col">Transaction</th></tr></thead>
<tbody>
${events.map((event) => eventRow(event, symbol))}
</tbody>
</table></div>`;
}

function eventRow(
  { kind, amount, height, txid, output, address }: RuneEventLine,
  symbol: string | null,
): Markup {
  const amountWords = html`${groupedDecimal(amount)} ${runeSymbol(symbol)}`;
  return html`<tr>
  <th scope="row">${kind}</th>
  <td class="num" data-label="${kind === 'etched' ? 'Premine' : 'Amount'}"><span>${amountWords}</span></td>
  <td data-label="Block">${heightLink(height)}</td>
  <td ${output !== null && html`data-label="To"`}>${receiver(output, address)}</td>
  <td data-label="Transaction">${transactionLink(txid)}</td>
</tr>
`;
}

/** The address of an output. If the output's script has no address, this is the output itself. */
function receiver(output: string | null, address: string | null): Markup | null {
  if (address !== null) return addressLink(address);
  return output === null ? null : outputLink(output);
}
