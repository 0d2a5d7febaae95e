import { grouped } from '#web/format.ts';
import { html, type Markup } from '#web/html.ts';
import { moment } from './moment.ts';

/** The current state of a sale (src/collections/selling/phase-state.ts). */
export type ShownSale = 'closed' | 'runes' | 'sold out' | 'reserved' | 'open' | 'later' | 'between' | 'over';

export interface MintSupply {
  readonly sale: ShownSale;
  readonly total: number;
  /** Number of paid items. */
  readonly sold: number;
  /** Number of items in unpaid orders. */
  readonly reserved: number;
  /** The next time at which a phase opens or ends. `null` if no phase will open or end. */
  readonly next: Date | null;
  /** A text that changes if a price may have changed. */
  readonly terms: string;
}

const words: Readonly<Record<ShownSale, { readonly head: string; readonly more: string }>> = {
  open: { head: 'Minting now', more: '' },
  later: { head: 'Not open yet', more: 'The first phase opens' },
  between: { head: 'Between phases', more: 'The next phase opens' },
  reserved: {
    head: 'All reserved',
    more: 'Every item on sale is in an order. Items of orders that are not paid in time become free again.',
  },
  'sold out': { head: 'Sold out', more: 'Every item is paid.' },
  over: { head: 'The sale is over', more: 'No phase is open, and no further phase follows.' },
  closed: { head: 'The sale is closed', more: 'Paid items are still delivered.' },
  runes: {
    head: 'Not sold yet',
    more: 'This collection has a price in runes, but no account that receives them. Its creator must create it again, with a key.',
  },
};

/** Width of the bar in units. On a wide screen, a pixel is about one unit. */
const barUnits = 1000;

/** The state of a sale, and the number of items left. The page's script replaces this part (`data-live`). */
export function supplyPart({ sale, total, sold, reserved, next, terms }: MintSupply): Markup {
  const left = total - sold - reserved;
  const { head, more } = words[sale];
  const opens = sale === 'later' || sale === 'between' ? next : null;
  const label = `${grouped(sold)} sold, ${grouped(reserved)} reserved, ${grouped(left)} left of ${grouped(total)}`;
  const units = (items: number): number => Math.round((items * barUnits) / total);
  return html`<section class="supply" data-live="supply" data-sale="${sale}" data-terms="${terms}"${next !== null && html` data-next="${next.toISOString()}"`}>
<p class="sale-state"><b>${head}</b>${more !== '' && html` <span>${more}${opens !== null && html` ${moment(opens)}`}</span>`}</p>
<svg class="supply-bar" viewBox="0 0 ${barUnits} 10" preserveAspectRatio="none" role="img" aria-label="${label}"><rect class="sold" width="${units(sold)}" height="10"></rect><rect class="reserved" x="${units(sold)}" width="${units(sold + reserved) - units(sold)}" height="10"></rect></svg>
<dl class="supply-counts">
<div class="left"><dt>left</dt><dd>${grouped(left)}</dd></div>
<div class="reserved"><dt>reserved</dt><dd>${grouped(reserved)}</dd></div>
<div class="sold"><dt>sold</dt><dd>${grouped(sold)}</dd></div>
</dl>
</section>`;
}
