import { html, type Markup } from '#web/html.ts';
import { isSvg, mediaOf } from '#web/media.ts';
import { badge } from '#web/parts/art-tile.ts';

interface Staged {
  readonly id: string;
  /** The type of the shown content. */
  readonly effectiveContentType: string | null;
  /**
   * Whether a document runs scripts. `null` if the content is not a document, or if its beginning does not decide this.
   */
  readonly runs: boolean | null;
}

/**
 * The art of an inscription, in large size. A document that has or may have scripts is in a folded part, and runs only
 * after the reader opens this part, because browsers do not load lazy frames while they are folded. This needs no
 * script of this service.
 */
export function stage({ id, effectiveContentType, runs }: Staged): Markup {
  const isDocument = mediaOf(effectiveContentType) === 'frame';
  if (!isDocument || runs === false || (isSvg(effectiveContentType) && runs === null))
    return previewFrame(id, isDocument);
  const words =
    runs === true ? 'It runs scripts, in a frame without access to anything else.' : 'It may run scripts.';
  return html`<details class="run"><summary>${badge(effectiveContentType, runs)}<span class="button primary">Run it</span><small>${words}</small></summary>
${previewFrame(id, true)}</details>`;
}

/**
 * Inscribed content in a frame with an opaque origin, which has no access to this page or site. Documents have their
 * own background, because a document without a background expects a light one.
 */
const previewFrame = (id: string, isDocument: boolean): Markup =>
  html`<iframe sandbox="allow-scripts" class="full${isDocument && ' document'}" loading="lazy" title="Content of inscription ${id}" src="/preview/${id}"></iframe>`;
