import { grouped, sizeWords } from './format.ts';
import { type HtmlValue, html, type Markup } from './html.ts';
import { mediaOf, mediaWords } from './media.ts';

/** An inscription in a list. */
export interface Card {
  readonly id: string;
  readonly number: number | null;
  readonly height: number;
  readonly contentType: string | null;
  /** Null: no body of its own. */
  readonly sizeBytes: number | null;
  /** The beginning of a text; null where it is none or not known here, a frame shows it then. */
  readonly text: string | null;
}

/** A list of inscriptions with previews; `needles` are marked in texts. */
export function cardList(cards: readonly Card[], needles: readonly string[] = []): Markup {
  return html`<ul class="cards">
${cards.map((card) => cardItem(card, needles))}
</ul>`;
}

function cardItem(card: Card, needles: readonly string[]): Markup {
  const name = card.number === null ? null : `#${grouped(card.number)}`;
  return html`<li class="card"><a href="/inscription/${card.id}" title="${card.id}">
  <span class="view">${cardView(card, needles)}</span>
  <span class="line"><b>${name ?? html`<span class="mono">${card.id.slice(0, 8)}…</span>`}</b><span>${mediaWords(card.contentType)}</span></span>
  <span class="line faint"><span>block ${grouped(card.height)}</span><span>${card.sizeBytes === null ? 'no body' : sizeWords(card.sizeBytes)}</span></span>
</a></li>
`;
}

function cardView(card: Card, needles: readonly string[]): HtmlValue {
  if (mediaOf(card.contentType) === 'text' && card.text !== null) {
    return html`<span class="snippet">${marked(card.text, needles)}</span>`;
  }
  return previewFrame(card.id, 'card');
}

/**
 * What somebody inscribed, in a frame without an origin: it can run scripts, and reach nothing of this page or site.
 * In lists it takes no clicks and no focus.
 */
export function previewFrame(id: string, size: 'card' | 'full'): Markup {
  return size === 'card'
    ? html`<iframe sandbox="allow-scripts" loading="lazy" scrolling="no" tabindex="-1" aria-hidden="true" title="" src="/preview/${id}"></iframe>`
    : html`<iframe sandbox="allow-scripts" class="full" title="Content of inscription ${id}" src="/preview/${id}"></iframe>`;
}

const snippetChars = 320;
/** Where the first match is further on, the snippet begins this much before it. */
const leadChars = 60;

/** A piece of a text around its first match, with all matches marked. Case folds as in searches. */
export function marked(text: string, needles: readonly string[]): HtmlValue {
  const pattern = needlePattern(needles);
  if (pattern === null) return cut(text, 0);
  const first = text.search(pattern);
  const start = first > snippetChars - leadChars ? wholeCharacter(text, first - leadChars) : 0;
  const piece = cut(text, start);
  const parts: HtmlValue[] = [start > 0 && '…'];
  let at = 0;
  for (const match of piece.matchAll(new RegExp(pattern.source, 'giu'))) {
    parts.push(piece.slice(at, match.index), html`<mark>${match[0]}</mark>`);
    at = match.index + match[0].length;
  }
  parts.push(piece.slice(at));
  return parts;
}

function cut(text: string, start: number): string {
  const end = wholeCharacter(text, start + snippetChars);
  return text.length <= end ? text.slice(start) : `${text.slice(start, end)}…`;
}

/** The index, or one less where it would divide a surrogate pair. */
function wholeCharacter(text: string, index: number): number {
  const code = text.charCodeAt(index);
  return code >= 0xdc00 && code <= 0xdfff ? index - 1 : index;
}

/** Any of the needles; regular expressions with `iu` use the simple case folding of Unicode, as searches do. */
function needlePattern(needles: readonly string[]): RegExp | null {
  const useful = needles.filter((needle) => needle !== '' && needle.length <= snippetChars);
  if (useful.length === 0) return null;
  const longestFirst = useful.toSorted((a, b) => b.length - a.length);
  return new RegExp(longestFirst.map((needle) => escapePattern(needle.toWellFormed())).join('|'), 'iu');
}

function escapePattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/gu, '\\$&');
}
