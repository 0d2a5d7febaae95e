import { html, type Markup } from '#web/html.ts';
import { runeHref } from './held-runes.ts';

/** The name of a rune, as the rune's pages show it. */
export interface NamedRune {
  /** The name with spacers. */
  readonly name: string;
  readonly id: string;
  readonly symbol: string | null;
}

const tabs = [
  ['rune', 'Rune', '', ''],
  ['holders', 'Holders', '/holders', 'Holders of '],
  ['activity', 'Activity', '/activity', 'Activity of '],
] as const;
export type RuneTab = (typeof tabs)[number][0];

/** The name of a rune, and links to the rune's pages. */
export function runeHead({ name }: NamedRune, shown: RuneTab): Markup {
  const before = tabs.find(([tab]) => tab === shown)?.[3] ?? '';
  return html`<h1 class="wrap">${before}${name}</h1>
<nav class="tabs" aria-label="Of this rune">${tabs.map(
    ([tab, label, path]) =>
      html`<a href="${runeHref(name)}${path}"${tab === shown && html` aria-current="page"`}>${label}</a> `,
  )}</nav>`;
}
