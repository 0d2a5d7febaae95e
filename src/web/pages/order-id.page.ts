import { html, type Markup } from '#web/html.ts';
import { layout, type Site } from '#web/layout.ts';

/** The page that is shown after a search for an order's id. The page does not show the id. */
export function orderIdPage({ site }: { readonly site: Site }): Markup {
  return layout({
    title: 'An order’s id · Satscribe',
    description: 'The id of an order opens that order, so it belongs on the page of orders.',
    site,
    main: html`<section class="lost">
  <h1>That looks like the id of an order</h1>
  <p>It was neither searched nor stored. The id opens your order, so treat it like a password: use it on the page of orders, not in a search.</p>
  <p><a class="button" href="/order">Open the page of orders</a> and paste it there.</p>
  <p class="faint">The page of orders needs scripts. With scripts, the search box also opens that page by itself, and the id stays in your browser.</p>
</section>`,
  });
}
