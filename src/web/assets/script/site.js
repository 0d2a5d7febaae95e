// The script of every page. All that a page shows works without it.
import { copyOnClick } from './copy.js';
import { searchFiles } from './file-search.js';
import { listenToKeys } from './keys.js';
import { keepOrderIds } from './order-id.js';
import { suggest } from './suggest.js';
import { say } from './toast.js';

searchFiles();
copyOnClick();
listenToKeys();
const boxes = /** @type {NodeListOf<HTMLInputElement>} */ (
  document.querySelectorAll('.search input[name=q]')
);
for (const [number, box] of boxes.entries()) {
  keepOrderIds(box);
  suggest(box, number);
}

// back from a result: nothing is being hashed any more
addEventListener('pageshow', () => say(''));
