// Shows the countdowns of a page (moment.ts).
import { countdownWords } from './countdown.js';

/** How often countdowns are updated, in ms. They show seconds. */
export const countdownTickMs = 1_000;

/** Writes the remaining time next to each moment on the page. */
export function showCountdowns() {
  for (const part of document.querySelectorAll('[data-until]')) {
    const words = countdownWords(Date.parse(part.getAttribute('data-until') ?? '') - Date.now());
    part.textContent = words === '' ? '' : `(${words})`;
  }
}
