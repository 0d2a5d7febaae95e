import { html, type Markup } from '#web/html.ts';
import { type Art, artTile } from '#web/parts/art-tile.ts';
import { isolated } from '#web/parts/strangers-text.ts';

/** The kinds of things that a text can name, each with its words. */
export const meaningWords = {
  inscription: 'Inscription',
  block: 'Block',
  transaction: 'Transaction',
  sale: 'Sale',
  output: 'Output',
  satpoint: 'Satpoint',
  address: 'Address',
  hash: 'Content',
  rune: 'Rune',
  sat: 'Sat',
  satribute: 'Satribute',
  collection: 'Collection',
} as const;

export type MeaningKind = keyof typeof meaningWords;

/** One meaning of a text, with its page. */
export interface MeaningView {
  readonly kind: MeaningKind;
  /** The name of the thing. It may be a text of a stranger. */
  readonly label: string;
  readonly path: string;
  /** The reason why the text has this meaning. It is the end of a sentence about the thing. */
  readonly why: string;
  /** Useful facts about the thing. The facts may contain texts of strangers. */
  readonly facts: readonly string[];
  /** `null` if there is no picture. `icon` is the thumbnail of an inscription. */
  readonly art:
    | { readonly kind: 'tile'; readonly tile: Art }
    | { readonly kind: 'icon'; readonly id: string }
    | null;
}

/** Kinds of things with labels that are codes. People compare such long texts, but do not read them. */
const codes: ReadonlySet<MeaningKind> = new Set(['transaction', 'output', 'satpoint', 'address']);

/** The meanings of a text, as cards with pictures. */
export function meaningCards(meanings: readonly MeaningView[], label: string): Markup | null {
  if (meanings.length === 0) return null;
  return html`<ul class="meanings" aria-label="${label}">
${meanings.map(meaningCard)}
</ul>`;
}

function meaningCard({ kind, label, path, why, facts, art }: MeaningView): Markup {
  return html`<li class="meaning"><a href="${path}">
  ${art !== null && html`<span class="picture">${artOf(art)}</span>`}
  <span class="what"><span class="kind">${meaningWords[kind]}</span>
  <b class="${codes.has(kind) ? 'mono' : 'wrap'}">${isolated(label)}</b>
  ${facts.length > 0 && html`<span class="about">${facts.map((fact, index) => [index > 0 && ' · ', isolated(fact)])}</span>`}
  <span class="faint">${why}</span></span>
</a></li>
`;
}

function artOf(art: NonNullable<MeaningView['art']>): Markup {
  if (art.kind === 'tile') return artTile(art.tile);
  return html`<span class="art"><img class="thumbnail" src="/thumbnails/${art.id}.webp" alt="" width="96" height="96" loading="lazy" decoding="async"></span>`;
}
