import { html, type Markup } from '#web/html.ts';

/**
 * Inscribed content in a frame with an opaque origin, which reaches nothing of this page or site. On its own page it may
 * run scripts, once it was asked for; in a list it runs none (src/web/parts/art-tile.ts).
 */
export const previewFrame = (id: string): Markup =>
  html`<iframe sandbox="allow-scripts" class="full" title="Content of inscription ${id}" src="/preview/${id}"></iframe>`;
