// What can be said of files before they are sent: why one is not taken, and what to do. Pure.
import { grouped, sizeWords } from './amounts.js';

/**
 * @typedef {{
 *   readonly extensions: readonly string[],
 *   readonly filesMax: number,
 *   readonly fileBytesMax: number,
 *   readonly orderBytesMax: number,
 * }} FileLimits `fileBytesMax`: no larger file fits into a transaction that nodes relay
 */

/** @param {string} name */
const extensionOf = (name) => (name.includes('.') ? name.slice(name.lastIndexOf('.') + 1).toLowerCase() : '');

/**
 * Why a file is not taken, and what to do; null: it is.
 *
 * @param {{ readonly name: string, readonly size: number }} file
 * @param {FileLimits} limits
 * @returns {string | null}
 */
export function fileProblem({ name, size }, { extensions, fileBytesMax }) {
  const extension = extensionOf(name);
  if (extension === '')
    return `${name} has no extension, so its type is not known. Rename it: photo.jpg, text.txt.`;
  if (!extensions.includes(extension))
    return `${name}: files of .${extension} are not inscribed here. These are: ${extensions.join(', ')}.`;
  if (size === 0) return `${name} is empty: it has 0 bytes. Choose another file.`;
  if (size > fileBytesMax)
    return `${name} has ${sizeWords(size)}, and one file has at most ${sizeWords(fileBytesMax)}: nodes send no larger transaction. Make it smaller.`;
  return null;
}

/**
 * Files that are taken beside others, and why the rest is not.
 *
 * @template {{ readonly name: string, readonly size: number }} File
 * @param {readonly File[]} files
 * @param {{ readonly count: number, readonly bytes: number }} before of the order already
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
      `${grouped(tooMany)} of the files are left out: an order has at most ${grouped(limits.filesMax)}. Make another order for them.`,
    );
  if (tooLarge > 0)
    problems.push(
      `${grouped(tooLarge)} of the files are left out: an order has at most ${sizeWords(limits.orderBytesMax)}. Make another order for them.`,
    );
  return { taken, problems };
}
