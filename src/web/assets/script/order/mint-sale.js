// Shows the state of a sale on the sale's page: countdowns, and parts that the server replaces.
import { showParts } from '../live.js';
import { countdownTickMs, showCountdowns } from './show-countdowns.js';

/**
 * How often the page is updated, in ms. Reserved items become free after at most half an hour, and phases open at known
 * times.
 */
const lookMs = 15_000;
/**
 * Maximum random delay of an update, in ms. Without a delay, all pages that wait for the same second would send their
 * requests at the same time.
 */
const spreadMs = 1_500;

/** @typedef {{ readonly isOpen: boolean, readonly terms: string }} Sale */

/** The parts of the page that the server replaces. */
const parts = () => document.querySelectorAll('[data-live]');

/** @returns {Sale} */
function saleNow() {
  const part = document.querySelector('[data-live="supply"]');
  const { sale = '', terms = '' } = part instanceof HTMLElement ? part.dataset : {};
  return { isOpen: sale === 'open', terms };
}

/** Requests the page again, and shows the current parts. */
async function readAgain() {
  const answer = await fetch(location.pathname, { headers: { accept: 'text/html' }, cache: 'no-cache' });
  if (!answer.ok) return;
  const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
  const found = [...page.querySelectorAll('[data-live]')];
  showParts(Object.fromEntries(found.map((part) => [part.getAttribute('data-live') ?? '', part.outerHTML])));
}

/** Time until a phase opens or ends, in ms. The result is null if no phase will open or end. */
function untilChange() {
  const part = document.querySelector('[data-live="supply"]');
  const next = part instanceof HTMLElement ? part.dataset['next'] : undefined;
  if (next === undefined) return null;
  return Math.max(0, Date.parse(next) - Date.now()) + Math.random() * spreadMs;
}

/**
 * Follows the sale while the page is visible. Calls `onSale` at once, and after each change.
 *
 * @param {(sale: Sale) => void} onSale
 */
export function followSale(onSale) {
  let told = '';
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  const tell = () => {
    showCountdowns();
    const sale = saleNow();
    if (JSON.stringify(sale) === told) return;
    told = JSON.stringify(sale);
    onSale(sale);
  };
  const later = () => {
    clearTimeout(timer);
    if (!document.hidden && parts().length > 0)
      timer = setTimeout(look, Math.min(lookMs, untilChange() ?? lookMs));
  };
  const look = () => {
    readAgain()
      // if the request fails, the page stays unchanged, and a later request follows
      .catch(() => undefined)
      .finally(() => {
        tell();
        later();
      });
  };
  document.addEventListener('visibilitychange', () => (document.hidden ? clearTimeout(timer) : look()));
  setInterval(showCountdowns, countdownTickMs);
  tell();
  later();
}
