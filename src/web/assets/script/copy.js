import { say } from './toast.js';

/** Copies what a button of class `copy` names. The buttons are hidden until scripts run. */
export function copyOnClick() {
  // browsers offer it on https and localhost alone
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
      () => say('The browser did not allow to copy.'),
    );
  });
}

/** Shows the buttons of a page, or those of a part that came later. */
export function showCopyButtons() {
  if (!('clipboard' in navigator)) return;
  for (const button of document.querySelectorAll('button.copy')) button.removeAttribute('hidden');
}

/** Long enough to read one word. */
const copiedMs = 1500;
