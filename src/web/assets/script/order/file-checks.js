// Checks files before they are sent. If a file is refused, the message says why and what to do. Pure.
import { grouped, sizeWords } from './amounts.js';

/**
 * @typedef {{
 *   readonly extensions: readonly string[],
 *   readonly filesMax: number,
 *   readonly fileBytesMax: number,
 *   readonly orderBytesMax: number,
 * }} FileLimits `fileBytesMax`: size of the largest file that fits into a transaction that nodes relay
 */

/** @param {string} name */
const extensionOf = (name) => (name.includes('.') ? name.slice(name.lastIndexOf('.') + 1).toLowerCase() : '');

/**
 * Number of characters that are shown at each end of a long file name. The complete name would hide the advice in the
 * message.
 */
const nameEnds = 24;

/** @param {string} name */
function shortened(name) {
  const characters = [...name];
  return characters.length <= 2 * nameEnds + 1
    ? name
    : `${characters.slice(0, nameEnds).join('')}…${characters.slice(-nameEnds).join('')}`;
}

/**
 * Makes a file name for use within a sentence. The name is isolated, so that characters that set the text direction
 * affect only the name.
 *
 * @param {string} name
 */
export const nameWords = (name) => {
  const plain = shortened(name.replaceAll(/\p{Cc}/gu, '�'));
  return /^[\x20-\x7e…]*$/u.test(plain)
    ? plain
    : `\u2068${plain.replaceAll(/[\u202a-\u202e\u2066-\u2069]/gu, '')}\u2069`;
};

/**
 * The reason why a file is refused, with advice what to do. The result is null if the file is accepted.
 *
 * @param {{ readonly name: string, readonly size: number }} file
 * @param {FileLimits} limits
 * @returns {string | null}
 */
export function fileProblem({ name: given, size }, { extensions, fileBytesMax }) {
  const extension = extensionOf(given);
  const name = nameWords(given);
  if (extension === '')
    return `${name} has no extension, so its type is unknown. Rename it, for example to photo.jpg or text.txt.`;
  if (!extensions.includes(extension))
    return `${name}: files of .${nameWords(extension)} cannot be inscribed here. Use one of these: ${extensions.join(', ')}.`;
  if (size === 0) return `${name} is empty: it has 0 bytes. Choose another file.`;
  if (size > fileBytesMax)
    return `${name} has ${sizeWords(size)}, and one file may have at most ${sizeWords(fileBytesMax)}: nodes do not relay larger transactions. Make it smaller.`;
  return null;
}

/**
 * Selects the files that still fit into an order, and returns the reasons why the other files are refused.
 *
 * @template {{ readonly name: string, readonly size: number }} File
 * @param {readonly File[]} files
 * @param {{ readonly count: number, readonly bytes: number }} before the earlier files in the order
 * @param {FileLimits} limits
 * @returns {{ readonly taken: readonly File[], readonly problems: readonly string[] }}
 */
export function takeFiles(files, before, limits) {
  let { count, bytes } = before;
  let tooMany = 0;
  let tooLarge = 0;
  const taken = /** @type {File[]} */ ([]);
  const problems = /** @type {string[]} */ ([]);
  for (const file of files) {
    const problem = fileProblem(file, limits);
    if (problem !== null) problems.push(problem);
    else if (count === limits.filesMax) tooMany += 1;
    else if (bytes + file.size > limits.orderBytesMax) tooLarge += 1;
    else {
      taken.push(file);
      count += 1;
      bytes += file.size;
    }
  }
  if (tooMany > 0)
    problems.push(
      `${grouped(tooMany)} of the files are left out: an order has at most ${grouped(limits.filesMax)}. Order them separately.`,
    );
  if (tooLarge > 0)
    problems.push(
      `${grouped(tooLarge)} of the files are left out: an order has at most ${sizeWords(limits.orderBytesMax)}. Order them separately.`,
    );
  return { taken, problems };
}
