// @ts-check
import { say } from './toast.js';

/** How long the message is shown, in ms. This is enough to read a few words. */
const saidMs = 2000;

/** @param {string} words */
function sayShortly(words) {
  say(words);
  setTimeout(() => say(''), saidMs);
}

/**
 * Shares the page with the device's own dialog. If the device has no such dialog, copies the page's URL.
 *
 * @param {{ title: string, url: string }} page
 */
async function share(page) {
  if ('share' in navigator) {
    // it is not an error if the person closes the dialog without a choice
    await navigator.share(page).catch(() => undefined);
    return;
  }
  await /** @type {Navigator} */ (navigator).clipboard.writeText(page.url);
  sayShortly('The address was copied.');
}

const canShare = 'share' in navigator || 'clipboard' in navigator;

for (const button of document.querySelectorAll('button.share')) {
  if (!(button instanceof HTMLElement) || !canShare) continue;
  button.hidden = false;
  button.addEventListener('click', () => {
    const url = new URL(button.dataset['path'] ?? '/', location.href).href;
    share({ title: button.dataset['title'] ?? document.title, url }).catch(() =>
      sayShortly('The browser did not allow copying.'),
    );
  });
}
