import { type HtmlValue, html, type Markup } from '#web/html.ts';
import { isSvg, mediaOf, mediaWords } from '#web/media.ts';
import { snippet } from '#web/parts/snippet.ts';
import { isolated } from '#web/parts/strangers-text.ts';

/** Facts of an inscription that its tile shows. */
export interface Art {
  readonly id: string;
  /** The type of the shown content, which is the inscription's own content or the content of its delegate. */
  readonly contentType: string | null;
  /** The beginning of a text content. Null or absent if the content is not a text, or is not loaded here. */
  readonly text?: string | null;
  /** Whether a document runs scripts. Null or absent if unknown. */
  readonly runs?: boolean | null;
}

/**
 * A square picture of an inscription. Images and SVGs are shown as thumbnails that this server draws, and texts as
 * text. Documents without scripts are shown in a frame that runs nothing. All other contents show a badge with their
 * kind, because in a list nothing runs, plays or moves. Pages with tiles are sent with `thumbnails: true`. The tile is
 * a `span`, so that it can be inside a link.
 */
export function artTile(art: Art): Markup {
  return html`<span class="art">${shown(art)}</span>`;
}

function shown({ id, contentType, text = null, runs = null }: Art): HtmlValue {
  const media = mediaOf(contentType);
  if (media === 'image' || isSvg(contentType)) return thumbnail(id);
  if (media === 'text')
    return text === null ? stillFrame(id) : html`<span class="snippet">${isolated(snippet(text))}</span>`;
  if (media === 'frame' && runs === false) return stillFrame(id);
  return badge(contentType, runs);
}

/** A picture with transparency that this server draws. */
const thumbnail = (id: string): Markup =>
  html`<img class="thumbnail" src="/thumbnails/${id}.webp" alt="" width="400" height="400" loading="lazy" decoding="async">`;

/** Content of an inscription in a frame. The frame runs no script, and accepts neither clicks nor focus. */
const stillFrame = (id: string): Markup =>
  html`<iframe sandbox="" loading="lazy" scrolling="no" tabindex="-1" aria-hidden="true" title="" src="/preview/${id}?size=card"></iframe>`;

/** Signs of the kinds of contents, and what the reader can do with each kind. */
const badges = {
  frame: ['</>', 'open to run'],
  audio: ['♪', 'open to hear'],
  video: ['▶', 'open to watch'],
  font: ['Aa', 'open to see'],
  other: ['◇', ''],
} as const;

/**
 * A badge for a content that a list does not show.
 *
 * @param isLinked false if there is no page that opens the content
 */
export function badge(contentType: string | null, runs: boolean | null, isLinked = true): Markup {
  const media = mediaOf(contentType);
  const [sign, invitation] = badges[media === 'text' || media === 'image' ? 'other' : media];
  const kind = media === 'frame' ? documentWords(contentType, runs) : mediaWords(contentType);
  return html`<span class="badge"><b aria-hidden="true">${sign}</b><span>${isolated(kind)}</span>${isLinked && invitation !== '' && html`<small>${invitation}</small>`}</span>`;
}

const documentWords = (contentType: string | null, runs: boolean | null): string =>
  `${isSvg(contentType) ? 'SVG' : 'HTML'}${runs === true ? ', runs scripts' : ''}`;
