import { html, type Markup } from '#web/html.ts';

/** The small picture of an inscription, which this server draws. It loads when it comes near the screen. */
export const thumbnail = (id: string, size: number): Markup =>
  html`<img class="thumbnail" src="/thumbnails/${id}.jpeg" alt="" width="${size}" height="${size}" loading="lazy" decoding="async">`;
