import { say } from './toast.js';

/** Makes buttons of the class `copy` copy their text. These buttons are hidden until scripts run. */
export function copyOnClick() {
  // browsers offer the clipboard only on https and localhost
  if (!('clipboard' in navigator)) return;
  showCopyButtons();
  document.addEventListener('click', (event) => {
    const button = event.target instanceof Element ? event.target.closest('button.copy') : null;
    if (!(button instanceof HTMLElement)) return;
    void navigator.clipboard.writeText(button.dataset['copy'] ?? '').then(
      () => {
        say('Copied.');
        setTimeout(() => say(''), copiedMs);
      },
      () => say('The browser did not allow copying.'),
    );
  });
}

/** Shows the copy buttons of a page. Must be called again after a part with buttons was added. */
export function showCopyButtons() {
  if (!('clipboard' in navigator)) return;
  for (const button of document.querySelectorAll('button.copy')) button.removeAttribute('hidden');
}

/** How long a button says that the text was copied, in ms. One word can be read in this time. */
const copiedMs = 1500;
