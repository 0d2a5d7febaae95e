import { grouped } from '#web/format.ts';
import { html, type Markup } from '#web/html.ts';
import { moment } from './moment.ts';

/** The state of a sale now (src/collections/selling/phase-state.ts). */
export type ShownSale = 'closed' | 'runes' | 'sold out' | 'reserved' | 'open' | 'later' | 'between' | 'over';

export interface MintSupply {
  readonly sale: ShownSale;
  readonly total: number;
  /** Paid for. */
  readonly sold: number;
  /** In orders that are not paid for. */
  readonly reserved: number;
  /** The next moment at which a phase opens or ends; null: there is no such moment. */
  readonly next: Date | null;
  /** Changes where a price may be another one. */
  readonly terms: string;
}

const words: Readonly<Record<ShownSale, { readonly head: string; readonly more: string }>> = {
  open: { head: 'Minting now', more: '' },
  later: { head: 'Not open yet', more: 'The first phase opens' },
  between: { head: 'Between phases', more: 'The next phase opens' },
  reserved: {
    head: 'All reserved',
    more: 'Every item that is for sale now is in an order. Those of orders that are not paid in time come back.',
  },
  'sold out': { head: 'Sold out', more: 'Every item is paid for.' },
  over: { head: 'The sale is over', more: 'No phase is open, and no other follows.' },
  closed: { head: 'The sale is closed', more: 'What was paid for before is delivered.' },
  runes: {
    head: 'Not sold yet',
    more: 'This collection has a price in runes, but no account that receives them. Its creator must create it again, with a key.',
  },
};

/** How many decimals of a thousandth the bar has: one pixel of a wide screen. */
const barUnits = 1000;

/** The state of a sale, and what is left. The script of the page replaces it (`data-live`). */
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
