import { html, type Markup } from './html.ts';
import { layout } from './layout.ts';

export interface ErrorView {
  readonly status: number;
  readonly title: string;
  readonly message: string;
}

export function errorPage({ status, title, message }: ErrorView): Markup {
  return layout({
    title: `${status} ${title} · Satscribe`,
    site: null,
    main: html`<section class="lost">
  <p class="code">${status}</p>
  <h1>${title}</h1>
  <p>${message}</p>
  <p><a href="/">Back to the search</a></p>
</section>`,
  });
}
