import type { Highlight } from '#kernel/contracts/search-service.ts';
import type { Height } from '#kernel/primitives/height.ts';
import { grouped, sizeWords } from '#web/format.ts';
import { type HtmlValue, html, type Markup } from '#web/html.ts';
import { mediaOf, mediaWords } from '#web/media.ts';
import { artTile } from '#web/parts/art-tile.ts';
import { snippetChars, wholeCharacter } from '#web/parts/snippet.ts';
import { isolated } from '#web/parts/strangers-text.ts';

/** An inscription in a list. */
export interface Card {
  readonly id: string;
  readonly number: number | null;
  /** `null` if the inscription is in the mempool, not in a block. */
  readonly height: Height | null;
  /** The type of the shown content, which is the inscription's own content or the content of its delegate. */
  readonly contentType: string | null;
  /** Whether a document runs scripts. Null or absent if unknown. */
  readonly runs?: boolean | null;
  /** `null` if the inscription has no body of its own. */
  readonly sizeBytes: number | null;
  /** The beginning of a text content. `null` if the content is not a text, or is not loaded here. */
  readonly text: string | null;
  /** Inscriptions with the same content. */
  readonly copies?: Copies | null;
  /** The matches of a search in the inscription's texts. */
  readonly found?: { readonly where: 'content' | 'metadata'; readonly pieces: readonly Highlight[] };
}

/** Inscriptions with the same content. */
export interface Copies {
  /** Number of all copies, including this inscription. */
  readonly count: number;
  /** Whether there may be more copies. */
  readonly isLeast: boolean;
  /** The URL of a list of all copies. */
  readonly href: string;
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
  <span class="line faint"><span>${card.height === null ? 'pending' : `block ${grouped(card.height)}`}</span><span>${card.sizeBytes === null ? 'no body' : sizeWords(card.sizeBytes)}</span></span>
</a>${card.copies && copiesLink(card.copies)}</li>
`;
}

function copiesLink({ count, isLeast, href }: Copies): Markup {
  const words = `${grouped(count)}${isLeast ? ' or more' : ''}`;
  return html`<a class="copies" href="${href}" rel="nofollow" aria-label="All ${words} with this content">×${grouped(count)}${isLeast && '+'}</a>`;
}

function cardView(card: Card): HtmlValue {
  if (showsFound(card)) return html`<span class="snippet">${isolatedPieces(card.found?.pieces ?? [])}</span>`;
  return artTile(card);
}

/** Whether the card shows the matching text instead of a preview. */
function showsFound({ contentType, text, found }: Card): boolean {
  const isText = mediaOf(contentType) === 'text' && text !== null;
  return isText && found?.where === 'content' && found.pieces.length > 0;
}

const isolatedPieces = (pieces: readonly Highlight[]): HtmlValue =>
  isolated(pieces.map(({ text }) => text).join(''), marked(pieces));

/** Maximum number of matching pieces of a text on a card. */
const piecesMax = 3;

/** The pieces of a text, with their matches marked. Pieces above the maximum of a card are left out. */
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
