import { sha256Of } from './file-hash.js';
import { say } from './toast.js';

/**
 * Shows who inscribed a file, if the page has an element for this. Otherwise opens a search for the file's hash.
 *
 * @param {File} file
 */
async function lookUp(file) {
  const place = document.querySelector('.checked');
  if (place instanceof HTMLElement) {
    const { checkFile } = await import('./check-file.js');
    return checkFile(file, place);
  }
  say(`Hashing ${file.name}…`);
  try {
    const hash = await sha256Of(file);
    if (hash === null)
      say('This browser hashes files only on https or localhost. Search for the sha256 of the file instead.');
    else location.assign(`/?hash=${hash}`);
  } catch {
    say(`${file.name} cannot be read.`);
  }
}

/** @param {DragEvent} event */
const hasFile = (event) => event.dataTransfer?.types.includes('Files') ?? false;

/** Searches for files that people choose, or drop anywhere on the page. */
export function searchFiles() {
  for (const pick of /** @type {NodeListOf<HTMLInputElement>} */ (document.querySelectorAll('input.pick')))
    pick.addEventListener('change', () => {
      const file = pick.files?.[0];
      if (file) void lookUp(file);
    });
  const drop = document.querySelector('.drop');
  // pages that use files for another purpose have no element for dropped files
  if (!(drop instanceof HTMLElement)) return;
  addEventListener('dragenter', (event) => {
    if (!hasFile(event)) return;
    event.preventDefault();
    drop.hidden = false;
  });
  addEventListener('dragover', (event) => {
    if (hasFile(event)) event.preventDefault();
  });
  addEventListener('dragleave', (event) => {
    // if there is no related target, the drag has left the window
    if (event.relatedTarget === null) drop.hidden = true;
  });
  addEventListener('drop', (event) => {
    if (!hasFile(event)) return;
    event.preventDefault();
    drop.hidden = true;
    const file = event.dataTransfer?.files[0];
    if (file) void lookUp(file);
  });
}
