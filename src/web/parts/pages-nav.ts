import { grouped } from '#web/format.ts';
import { html, type Markup } from '#web/html.ts';

export interface PagesNav {
  /** Path and parameters of the list, without the page number. */
  readonly path: string;
  readonly parameters: Readonly<Record<string, string>>;
  readonly page: number;
  readonly totalPages: number;
}

/** Links to the previous and next page, and a box for any page number. `null` if there is only one page. */
export function pagesNav({ path, parameters, page, totalPages }: PagesNav): Markup | null {
  if (totalPages <= 1 && page === 1) return null;
  const to = (target: number): string =>
    `${path}?${new URLSearchParams({ ...parameters, page: String(target) }).toString()}`;
  const last = Math.max(totalPages, 1);
  const link = (target: number, words: string, rel: string): Markup =>
    target >= 1 && target <= last && target !== page
      ? html`<a href="${to(target)}" rel="${rel}">${words}</a>`
      : html`<span class="off">${words}</span>`;
  return html`<nav class="pages" aria-label="Pages">
  ${link(1, '« First', 'first')}
  ${link(Math.min(page - 1, last), '‹ Previous', 'prev')}
  <form action="${path}" method="get">
    ${Object.entries(parameters).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}
    <label>Page <input type="number" name="page" min="1" max="${last}" value="${Math.min(page, last)}" required></label>
    <span>of ${grouped(totalPages)}</span>
    <button type="submit">Go</button>
  </form>
  ${link(page + 1, 'Next ›', 'next')}
  ${link(last, 'Last »', 'last')}
</nav>`;
}
