import { grouped, plural } from '#web/format.ts';
import { html, type Markup } from '#web/html.ts';
import { price, volume } from '#web/parts/amounts.ts';
import type { Bar } from '#web/parts/chart.ts';
import { type CollectionHead, collectionFrame } from '#web/parts/collection-frame.ts';
import { pagesNav } from '#web/parts/pages-nav.ts';
import { salesCharts } from '#web/parts/sales-charts.ts';
import type { SumsLine } from './market.page.ts';

export interface DayLine extends SumsLine {
  /** A day, as in `2025-05-23`. */
  readonly day: string;
}

export interface CollectionDaysView {
  readonly head: CollectionHead;
  /** Days, latest first. */
  readonly days: readonly DayLine[];
  /** Volumes and mean prices in sats. The bars at the same index are about the same days. */
  readonly volumes: readonly Bar[];
  readonly prices: readonly Bar[];
  /** Number of days on all pages. */
  readonly count: number;
  /** Number of this page, from 1. */
  readonly page: number;
  readonly totalPages: number;
}

/** The page of a collection's sales, summed for each day with a sale. */
export function collectionDaysPage(view: CollectionDaysView): Markup {
  const { head, days, count, page, totalPages } = view;
  const { slug, name } = head;
  const path = `/collection/${slug}/days`;
  const empty = page > 1 ? 'There are no days on this page.' : 'No sale of an item is known.';
  return collectionFrame(head, {
    tab: 'days',
    description: `Sales of ${name} by day: number of sales, volume, lowest and mean price.`,
    main: html`${salesCharts(view)}
<section>
<h2>Sales by day <span class="faint">${plural(count, 'day')} with a sale, in UTC, by block times</span></h2>
${days.length > 0 ? daysTable(days) : html`<p class="empty">${empty}</p>`}
${pagesNav({ path, parameters: {}, page, totalPages })}
<p class="tools"><a href="/marketplace/data/collections/${slug}/stats">Statistics as JSON</a></p>
</section>`,
  });
}

const daysTable = (days: readonly DayLine[]): Markup => html`<div class="scroll"><table class="rows stacked">
<thead><tr><th scope="col">Day</th><th scope="col" class="num">Sales</th><th scope="col" class="num">Volume</th><th scope="col" class="num">Lowest</th><th scope="col" class="num">Mean</th><th scope="col" class="num">Wash sales</th></tr></thead>
<tbody>
${days.map(
  ({ day, sales, volume: sats, lowest, washSales }) => html`<tr>
  <th scope="row" class="nowrap">${day}</th>
  <td class="num" data-label="Sales"><span>${grouped(sales)}</span></td>
  <td class="num" data-label="Volume">${volume(sats)}</td>
  <td class="num" data-label="Lowest"><span class="nowrap">${lowest === null ? '–' : price(lowest)}</span></td>
  <td class="num" data-label="Mean"><span class="nowrap">${sales === 0 ? '–' : price(Math.round(sats / sales))}</span></td>
  <td class="num" data-label="Wash sales"><span>${grouped(washSales)}</span></td>
</tr>
`,
)}
</tbody>
</table></div>`;
