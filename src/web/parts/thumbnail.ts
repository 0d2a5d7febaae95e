import { html, type Markup } from '#web/html.ts';

/**
 * The small picture of an inscription. This server draws the picture, and browsers load it when it comes near the
 * visible part of the page.
 */
export const thumbnail = (id: string, size: number): Markup =>
  html`<img class="thumbnail" src="/thumbnails/${id}.jpeg" alt="" width="${size}" height="${size}" loading="lazy" decoding="async">`;
