const toast = document.querySelector('.toast');

/**
 * Shows a line of text at the bottom of the page. An empty text hides the line.
 *
 * @param {string} words
 */
export function say(words) {
  if (!(toast instanceof HTMLElement)) return;
  toast.textContent = words;
  toast.hidden = words === '';
}
