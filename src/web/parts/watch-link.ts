import { html, type Markup } from '#web/html.ts';

/**
 * A link to the form that saves a watch.
 *
 * @param parameters the kind of watch and its condition, as the form's page reads them
 */
export const watchLink = (parameters: Readonly<Record<string, string>>, words = 'Watch this'): Markup =>
  html`<a href="/watches/new?${new URLSearchParams(parameters).toString()}" rel="nofollow">${words}</a>`;
