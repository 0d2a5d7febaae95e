// The script of every page. Pages also work without this script.
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

// if the reader returns from a result, hide the message about a file, because no file is being hashed
addEventListener('pageshow', () => say(''));
