import { grouped } from '#web/format.ts';
import { type HtmlValue, html, type Markup } from '#web/html.ts';
import { isSvg, mediaOf } from '#web/media.ts';
import { badge } from './art-tile.ts';
import { snippet } from './snippet.ts';
import { isolated, strangersName } from './strangers-text.ts';

/** An approved file of a collection for sale. */
export interface MintTile {
  /** Path of the file's thumbnail. `null` if this machine does not have the operator's disk with the files. */
  readonly thumbnail: string | null;
  /** The file's name, which a stranger chose. */
  readonly name: string;
  readonly mediaType: string;
  /** The beginning of a text file. `null` if the file is not a text, or was not read. */
  readonly text: string | null;
}

/**
 * Some files of the sale. This server draws their pictures as thumbnails of the approved files. Cover and banner are
 * not loaded, because they are URLs of strangers. Nothing runs, plays or moves.
 */
export function mintArt(tiles: readonly MintTile[], isEdition: boolean, total: number): HtmlValue {
  if (tiles.length === 0) return null;
  const words = isEdition
    ? `Each of the ${grouped(total)} items is this file.`
    : tiles.length < total
      ? `Some of ${grouped(total)} items.`
      : null;
  return html`<ul class="mint-tiles${tiles.length === 1 && ' alone'}" aria-label="Files for sale">${tiles.map(tileItem)}</ul>
${words !== null && html`<p class="faint small">${words}</p>`}`;
}

const tileItem = (tile: MintTile): Markup =>
  html`<li><span class="art">${shown(tile)}</span><span class="unseen">${strangersName(tile.name)}</span></li>
`;

function shown({ thumbnail, mediaType, text }: MintTile): HtmlValue {
  if (thumbnail !== null && (mediaOf(mediaType) === 'image' || isSvg(mediaType)))
    return html`<img class="thumbnail" src="${thumbnail}" alt="" width="400" height="400" loading="lazy" decoding="async">`;
  if (text !== null) return html`<span class="snippet">${isolated(snippet(text))}</span>`;
  return badge(mediaType, null, false);
}
