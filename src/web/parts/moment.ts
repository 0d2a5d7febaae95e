import { timeWords } from '#web/format.ts';
import { html, type Markup } from '#web/html.ts';

/** A future time in UTC. The page's script adds the time that remains (countdown.js). */
export const moment = (at: Date): Markup =>
  html`<time class="nowrap" datetime="${at.toISOString()}">${timeWords(Math.floor(at.getTime() / 1000))}</time> <span class="nowrap" data-until="${at.toISOString()}"></span>`;
