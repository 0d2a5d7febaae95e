import { sha256Of } from './file-hash.js';
import { handFile } from './handed-file.js';

/**
 * The response of `/search/hashes`.
 *
 * @typedef {object} Hashes
 * @property {string} status
 * @property {{ toHeight: number | null, blocks: number, complete: boolean }} coverage
 * @property {{ new: boolean, first: First | null }[]} results
 *
 * @typedef {object} First
 * @property {string} inscriptionid
 * @property {string | null} inscriptionnumber
 * @property {string | null} blockheight
 */

/** @param {number} number */
const grouped = (number) => number.toLocaleString('en-US');

/**
 * @param {string} href
 * @param {string} words
 * @param {string} [className]
 */
function link(href, words, className = '') {
  const made = document.createElement('a');
  made.href = href;
  made.textContent = words;
  made.className = className;
  return made;
}

/** @param {(string | Node)[]} words */
function line(...words) {
  const made = document.createElement('p');
  made.append(...words);
  return made;
}

/**
 * Reads the time of the block with an inscription, in Unix seconds. The result is null if the time is unknown now. The
 * lines about the inscription are then shown without it.
 *
 * @param {string} id
 * @returns {Promise<number | null>}
 */
async function timeOf(id) {
  try {
    const answer = await fetch(`/r/inscription/${id}`);
    const { timestamp } = /** @type {{ timestamp?: unknown }} */ (await answer.json());
    return typeof timestamp === 'number' ? timestamp : null;
  } catch {
    return null;
  }
}

/**
 * Lines about the first inscription with a content.
 *
 * @param {First} first
 * @param {string} hash
 */
async function inscribed({ inscriptionid, inscriptionnumber, blockheight }, hash) {
  const name =
    inscriptionnumber === null ? `${inscriptionid.slice(0, 8)}…` : `#${grouped(Number(inscriptionnumber))}`;
  const time = await timeOf(inscriptionid);
  const when =
    time === null ? '' : `, ${new Date(time * 1000).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
  const where =
    blockheight === null
      ? ['in no block yet']
      : ['in block ', link(`/block/${blockheight}`, grouped(Number(blockheight))), when];
  return [
    line('Already inscribed, first by ', link(`/inscription/${inscriptionid}`, name), ' ', ...where, '.'),
    line(link(`/?hash=${hash}`, 'All inscriptions of this content')),
  ];
}

/**
 * Lines about a content that no inscription in the known blocks has.
 *
 * @param {Hashes['coverage']} coverage
 * @param {File} file
 */
function isNew({ toHeight, blocks, complete }, file) {
  const known =
    toHeight === null
      ? 'here, where no block is indexed yet'
      : complete
        ? `up to block ${grouped(toHeight)}`
        : `in the ${grouped(blocks)} indexed blocks up to ${grouped(toHeight)}`;
  const inscribe = link('/inscribe', 'Inscribe this file', 'button primary');
  inscribe.addEventListener('click', (event) => {
    if (event.metaKey || event.ctrlKey || event.shiftKey) return;
    event.preventDefault();
    // if the browser cannot store the file, the customer must choose it again on the page /inscribe
    void handFile(file).then(() => location.assign(inscribe.href));
  });
  return [line(`New: no inscription has this content, ${known}.`), line(inscribe)];
}

/**
 * Says below the button who inscribed a file first. The file stays in the browser, because only its hash is sent.
 *
 * @param {File} file
 * @param {HTMLElement} place
 */
export async function checkFile(file, place) {
  place.replaceChildren(line(`Hashing ${file.name}…`));
  place.scrollIntoView({ block: 'nearest' });
  let hash;
  try {
    hash = await sha256Of(file);
  } catch {
    place.replaceChildren(line(`${file.name} cannot be read. Choose it again, or choose another file.`));
    return;
  }
  if (hash === null) {
    const words =
      'This browser hashes files only on https or localhost. Search for the sha256 of the file instead: sha256sum prints it.';
    place.replaceChildren(line(words));
    return;
  }
  try {
    const answer = await fetch('/search/hashes', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ hashes: [hash] }),
      // the referrer is sent, because searches may need a key; the referrer then shows the server that the request
      // comes from one of its own pages
      referrerPolicy: 'same-origin',
    });
    const { status, coverage, results } = /** @type {Hashes} */ (await answer.json());
    const [result] = status === 'ok' ? results : [];
    if (result === undefined) {
      // the search page shows the reason, and requests a key if a key is needed
      location.assign(`/?hash=${hash}`);
      return;
    }
    const words = result.first === null ? isNew(coverage, file) : await inscribed(result.first, hash);
    const name = document.createElement('b');
    name.textContent = file.name;
    place.replaceChildren(line(name), ...words);
  } catch {
    place.replaceChildren(line('The server did not answer. Try again in a moment.'));
  }
}
