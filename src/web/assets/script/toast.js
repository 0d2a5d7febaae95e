const toast = document.querySelector('.toast');

/**
 * Shows a line at the bottom of the page; an empty one hides it.
 *
 * @param {string} words
 */
export function say(words) {
  if (!(toast instanceof HTMLElement)) return;
  toast.textContent = words;
  toast.hidden = words === '';
}
