import { timeWords } from '#web/format.ts';
import { html, type Markup } from '#web/html.ts';

/** A moment to come, in UTC. The script of the page adds how long that is from now (countdown.js). */
export const moment = (at: Date): Markup =>
  html`<time class="nowrap" datetime="${at.toISOString()}">${timeWords(Math.floor(at.getTime() / 1000))}</time> <span class="nowrap" data-until="${at.toISOString()}"></span>`;
