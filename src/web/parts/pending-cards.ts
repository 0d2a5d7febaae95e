import { sizeWords } from '#web/format.ts';
import { html, type Markup } from '#web/html.ts';
import { mediaWords } from '#web/media.ts';
import { artTile } from './art-tile.ts';
import { feeRateWords } from './facts.ts';
import { isolated } from './strangers-text.ts';

/** An inscription in the mempool. */
export interface PendingCard {
  readonly id: string;
  readonly contentType: string | null;
  readonly sizeBytes: number | null;
  /** The beginning of a text content. */
  readonly text: string | null;
  /** Fee in sats. `null` if unknown. */
  readonly fee: number | null;
  readonly vsize: number;
}

/** A list of pending inscriptions with previews. */
export function pendingCardList(cards: readonly PendingCard[]): Markup {
  return html`<ul class="cards">
${cards.map(pendingCard)}
</ul>`;
}

function pendingCard(card: PendingCard): Markup {
  const { id, contentType, sizeBytes, fee, vsize } = card;
  return html`<li class="card"><a href="/inscription/${id}" title="${id}">
  <span class="view">${artTile(card)}</span>
  <span class="line"><b class="mono">${id.slice(0, 8)}…</b><span>${isolated(mediaWords(contentType))}</span></span>
  <span class="line faint"><span>${fee === null ? 'fee unknown' : feeRateWords(fee, vsize)}</span><span>${sizeBytes === null ? 'no body' : sizeWords(sizeBytes)}</span></span>
</a></li>
`;
}
