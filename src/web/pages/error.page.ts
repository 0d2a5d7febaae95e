import { html, type Markup } from '#web/html.ts';
import { layout, type Site } from '#web/layout.ts';
import { isolated } from '#web/parts/strangers-text.ts';

export interface ErrorView {
  /** `null` if the process does not know its network yet. */
  readonly site: Site | null;
  readonly status: number;
  readonly title: string;
  readonly message: string;
  /** The path that a key would open. `null` if a key would not help. */
  readonly keyFor: string | null;
  /** The first page of the list, if the requested position no longer exists. `null` if the error is a different one. */
  readonly firstPage: string | null;
  /** A search that may find what the reader wanted. `null` if there is no such search. */
  readonly instead: { readonly text: string; readonly href: string } | null;
}

export function errorPage({ site, status, title, message, keyFor, firstPage, instead }: ErrorView): Markup {
  return layout({
    title: `${status} ${title} · Satscribe`,
    // leave out the request, because it is a stranger's text, and shared links would show it as a text of this site
    description: `This page of Satscribe cannot be shown: ${title}.`,
    site,
    main: html`<section class="lost">
  <p class="code">${status}</p>
  <h1>${title}</h1>
  <p>${message}</p>
  ${keyFor !== null && keyForm(keyFor)}
  ${firstPage !== null && html`<p><a class="button" href="${firstPage}">Go to the first page</a></p>`}
  ${instead !== null && html`<p><a class="button" href="${instead.href}" rel="nofollow"><span>Search for <q>${isolated(instead.text)}</q></span></a></p>`}
  <p><a href="/">Back to the search</a></p>
</section>`,
  });
}

/** A form in which people enter their key. A cookie then keeps the key. */
function keyForm(path: string): Markup {
  return html`<form class="search key" action="/key" method="post">
    <div class="box">
      <input name="key" type="password" required maxlength="200" autocomplete="off" aria-label="Your key" placeholder="satscribe_…">
      <input type="hidden" name="to" value="${path}">
      <button type="submit">Search with this key</button>
    </div>
    <p><small>A cookie keeps it until you close the browser. Ask the operator of this service for a key.</small></p>
  </form>`;
}
