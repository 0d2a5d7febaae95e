import { type HtmlValue, html } from '#web/html.ts';

export interface SatributeName {
  readonly id: string;
  readonly title: string;
}

/** The satributes of a sat. Each satribute links to its page, which explains why the sat has this satribute. */
export function satributeChips(satributes: readonly SatributeName[], sat: number): HtmlValue {
  return satributes.map(
    ({ id, title }) => html`<a class="chip" href="/satributes/${id}?sat=${sat}">${title}</a> `,
  );
}
