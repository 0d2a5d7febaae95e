import type { Highlight } from '#kernel/contracts/search-service.ts';
import type { Height } from '#kernel/primitives/height.ts';
import { grouped, sizeWords } from '#web/format.ts';
import { type HtmlValue, html, type Markup } from '#web/html.ts';
import { mediaOf, mediaWords } from '#web/media.ts';
import { isolated } from '#web/parts/strangers-text.ts';

/** An inscription in a list. */
export interface Card {
  readonly id: string;
  readonly number: number | null;
  readonly height: Height;
  readonly contentType: string | null;
  /** Null: no body of its own. */
  readonly sizeBytes: number | null;
  /** The beginning of a text. Null: not a text, or not loaded here; a frame shows it then. */
  readonly text: string | null;
  /** The matches of a search in its texts. */
  readonly found?: { readonly where: 'content' | 'metadata'; readonly pieces: readonly Highlight[] };
}

/** A list of inscriptions with previews. Matches of a search are marked. */
export function cardList(cards: readonly Card[]): Markup {
  return html`<ul class="cards">
${cards.map(cardItem)}
</ul>`;
}

function cardItem(card: Card): Markup {
  const name = card.number === null ? null : `#${grouped(card.number)}`;
  return html`<li class="card"><a href="/inscription/${card.id}" title="${card.id}">
  <span class="view">${cardView(card)}</span>
  ${!showsFound(card) && card.found && card.found.pieces.length > 0 && html`<span class="found">${isolatedPieces(card.found.pieces.slice(0, 1))}</span>`}
  <span class="line"><b>${name ?? html`<span class="mono">${card.id.slice(0, 8)}…</span>`}</b><span>${isolated(mediaWords(card.contentType))}</span></span>
  <span class="line faint"><span>block ${grouped(card.height)}</span><span>${card.sizeBytes === null ? 'no body' : sizeWords(card.sizeBytes)}</span></span>
</a></li>
`;
}

function cardView(card: Card): HtmlValue {
  if (showsFound(card)) return html`<span class="snippet">${isolatedPieces(card.found?.pieces ?? [])}</span>`;
  if (mediaOf(card.contentType) === 'text' && card.text !== null)
    return html`<span class="snippet">${isolated(cut(card.text))}</span>`;
  return previewFrame(card.id, 'card');
}

/** Whether the card shows the matching text instead of a preview. */
function showsFound({ contentType, text, found }: Card): boolean {
  const isText = mediaOf(contentType) === 'text' && text !== null;
  return isText && found?.where === 'content' && found.pieces.length > 0;
}

/**
 * Inscribed content in a frame with an opaque origin, which reaches nothing of this page or site. Alone it may run
 * scripts. In a list it runs none: nobody chose it, and no browser bounds what a script of a frame takes of it
 * (SECURITY.md). There it takes no clicks and no focus either, plays nothing, and has smaller bounds.
 */
export function previewFrame(id: string, size: 'card' | 'full'): Markup {
  return size === 'card'
    ? html`<iframe sandbox="" loading="lazy" scrolling="no" tabindex="-1" aria-hidden="true" title="" src="/preview/${id}?size=card"></iframe>`
    : html`<iframe sandbox="allow-scripts" class="full" title="Content of inscription ${id}" src="/preview/${id}"></iframe>`;
}

const isolatedPieces = (pieces: readonly Highlight[]): HtmlValue =>
  isolated(pieces.map(({ text }) => text).join(''), marked(pieces));

const snippetChars = 320;
/** Pieces of a text that fit on a card. */
const piecesMax = 3;

function cut(text: string): string {
  const end = wholeCharacter(text, snippetChars);
  return text.length <= end ? text : `${text.slice(0, end)}…`;
}

/** The pieces of a text with their matches marked, as many as fit on a card. */
export function marked(pieces: readonly Highlight[]): HtmlValue {
  return pieces
    .slice(0, piecesMax)
    .map((piece, index) => [(index > 0 || piece.offset > 0) && '…', markedPiece(piece)]);
}

function markedPiece({ text, matches }: Highlight): HtmlValue {
  const end = wholeCharacter(text, Math.min(text.length, snippetChars));
  const parts: HtmlValue[] = [];
  let at = 0;
  for (const match of matches) {
    if (match.start >= end) break;
    parts.push(
      text.slice(at, match.start),
      html`<mark>${text.slice(match.start, Math.min(match.end, end))}</mark>`,
    );
    at = Math.min(match.end, end);
  }
  return [...parts, text.slice(at, end)];
}

/** The index, or one less where it would divide a surrogate pair. */
function wholeCharacter(text: string, index: number): number {
  const code = text.charCodeAt(index);
  return code >= 0xdc00 && code <= 0xdfff ? index - 1 : index;
}
