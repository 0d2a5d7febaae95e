import { grouped, plural } from '#web/format.ts';
import { type HtmlValue, html, type Markup } from '#web/html.ts';
import { volume } from './amounts.ts';
import { unknownWords } from './facts.ts';
import { type SaleLine, saleRows } from './sale-rows.ts';

interface AddressSums {
  readonly sales: number;
  readonly washSales: number;
  /** Volume in sats, without wash trades. */
  readonly volume: number;
  /** Whether there are older sales that these sums do not include. */
  readonly isLeast: boolean;
}

/** Sales or purchases of an address, or the reason why they are unknown. */
export type AddressSalesView =
  | { readonly kind: 'unknown'; readonly why: string }
  | {
      readonly kind: 'known';
      readonly side: 'sold' | 'bought';
      /** `null` if this is a later page. */
      readonly sums: AddressSums | null;
      readonly sales: readonly SaleLine[];
    };

/**
 * The sales or purchases of an address, with their sum.
 *
 * @param empty makes the words of a page without rows, in the page's own form
 */
export function addressSales(view: AddressSalesView, empty: (words: string) => Markup): HtmlValue {
  if (view.kind === 'unknown') return html`<p>${unknownWords(view.why)}</p>`;
  const { side, sums, sales } = view;
  return [
    sums !== null && sums.sales + sums.washSales > 0 && html`<p>${sumWords(side, sums)}</p>`,
    sales.length > 0
      ? saleRows(sales)
      : empty(side === 'sold' ? 'It sold no inscription.' : 'It bought no inscription.'),
  ];
}

function sumWords(side: 'sold' | 'bought', { sales, washSales, volume: sats, isLeast }: AddressSums): Markup {
  const counted = isLeast
    ? `The newest ${grouped(sales)} were ${side}`
    : `${plural(sales, 'inscription')} ${side}`;
  return html`${counted} for ${volume(sats)}.${washSales > 0 && ` Wash sales, which no sum includes: ${grouped(washSales)}.`}${isLeast && ' Older sales are listed, but not summed.'}`;
}
