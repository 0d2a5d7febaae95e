import { plural } from '#web/format.ts';
import { html, type Markup } from '#web/html.ts';
import { type CollectionHead, collectionFrame } from '#web/parts/collection-frame.ts';
import { pagesNav } from '#web/parts/pages-nav.ts';
import { type SaleLine, saleRows } from '#web/parts/sale-rows.ts';

export interface CollectionActivityView {
  readonly head: CollectionHead;
  readonly sales: readonly SaleLine[];
  /** Number of sales on all pages, including wash sales. */
  readonly count: number;
  /** Number of this page, from 1. */
  readonly page: number;
  readonly totalPages: number;
}

/** The page of a collection's sales, newest first. */
export function collectionActivityPage({
  head,
  sales,
  count,
  page,
  totalPages,
}: CollectionActivityView): Markup {
  const { slug, name } = head;
  const path = `/collection/${slug}/activity`;
  const empty = page > 1 ? 'There are no sales on this page.' : 'No sale of an item is known.';
  return collectionFrame(head, {
    tab: 'activity',
    description: `Sales of ${name}, newest first, with price, seller and buyer.`,
    main: html`<section>
<h2>Sales <span class="faint">${plural(count, 'sale')}, newest first</span></h2>
${sales.length > 0 ? saleRows(sales) : html`<p class="empty">${empty}</p>`}
${pagesNav({ path, parameters: {}, page, totalPages })}
<p class="tools"><a href="/marketplace/data/export?slug=${slug}&amp;format=csv" download>All sales as CSV</a> <a href="/marketplace/data/collections/activity?slug=${slug}&amp;startDate=1970-01-01">as JSON</a></p>
</section>`,
  });
}
