import { standardWeightMax } from '#kernel/bitcoin/transaction-size.ts';
import { claimOf } from './etching-parts.ts';
import { type FileTerms, type OrderRefusal, type OrderTerms, refused } from './order-terms.ts';
import { burnWeight, revealWeight } from './reveal-parts.ts';
import {
  type EnvelopeLengths,
  envelopeBytes,
  idField,
  pointerField,
  revealScriptBytes,
} from './reveal-script.ts';
import { type FileGroup, pointerOf, type SettledTerms } from './settled-terms.ts';

/**
 * Maximum planned weight of a reveal with several files, including its burn. Nodes relay 400,000, and partial payments
 * may add inputs later. Nodes accept the reveal and the burn together up to 404,000; the difference leaves room for a
 * transaction that pays for both.
 */
const sharedRevealWeightMax = 390_000;
/**
 * Maximum weight of a reveal that a miner takes directly. The reveal must fit into a block, beside the header and
 * coinbase.
 */
export const minedWeightMax = 3_900_000;

/** A group of files, with the length of the leaf that reveals them. */
export interface LeafGroup extends FileGroup {
  readonly leafBytes: number;
}

/**
 * Groups the files by reveal, in their sequence. Each reveal gets as many files as fit. An etching without files also
 * gets a reveal, and each mint is a group without files.
 */
export function groupFiles(terms: SettledTerms): LeafGroup[] | OrderRefusal {
  if (terms.mint !== null)
    return Array.from({ length: terms.mint.count }, (_, first) => ({ first, count: 0, leafBytes: 0 }));
  if (terms.files.length === 0)
    return [{ first: 0, count: 0, leafBytes: revealScriptBytes([], claimOf(terms)?.length ?? null) }];
  const groups: LeafGroup[] = [];
  let first = 0;
  while (first < terms.files.length) {
    const group = groupFrom(terms, first);
    if ('kind' in group) return group;
    groups.push(group);
    first += group.count;
  }
  return groups;
}

function groupFrom(terms: SettledTerms, first: number): LeafGroup | OrderRefusal {
  // an uncursed envelope needs the first input of its reveal for itself, and so does an inventory sat
  const isAlone = terms.uncurse || terms.inventory !== null;
  let count = 0;
  let leafBytes = revealScriptBytes([]);
  while (first + count < terms.files.length) {
    const file = terms.files[first + count];
    if (file === undefined || (isAlone && count > 0)) break;
    const bytes = leafBytes + envelopeBytes(envelopeLengths(terms, { first }, file, count));
    const weight = revealWeight(terms, { first, count: count + 1 }, bytes);
    if (count > 0 && weight + burnWeight(terms, count + 1) > sharedRevealWeightMax) break;
    // check the reveal without the burn here, because the weight that nodes relay is a limit of the reveal alone
    if (weight > revealWeightMax(terms)) return tooLarge(terms, first + count, weight);
    leafBytes = bytes;
    count++;
  }
  return { first, count, leafBytes };
}

/**
 * Maximum weight of a reveal with one file. Without a miner, the maximum is the weight that nodes relay. The same
 * maximum applies to burns, because they are sent together with their reveal; to inventory sats, because they do not
 * wait for a miner; and to etchings, because no miner keeps the reveal until its commit is deep.
 */
const revealWeightMax = ({ nonStandard, burn, inventory, etching }: OrderTerms): number =>
  nonStandard && !burn && inventory === null && etching === null ? minedWeightMax : standardWeightMax;

function tooLarge(terms: SettledTerms, file: number, weight: number): OrderRefusal {
  const max = revealWeightMax(terms);
  const why = terms.nonStandard
    ? 'a miner does not directly accept burns, sats of the inventory, or etchings'
    : 'this service has no other way to get it mined';
  const bound =
    max === minedWeightMax ? `a block has space for ${max}` : `nodes relay ${max} at most, and ${why}`;
  const largest = largestContent(terms, file, max);
  const advice =
    largest === null
      ? 'The metadata alone is too large.'
      : `The largest content that fits has ${largest} bytes.`;
  const reason = `File ${file + 1} makes a transaction of ${weight} weight units, but ${bound}. ${advice}`;
  return refused('reveal-too-large', reason, { file });
}

/**
 * Length of the largest content with which the reveal of a file would fit, with all other fields unchanged, in bytes;
 * null if no content fits.
 */
function largestContent(terms: SettledTerms, index: number, max: number): number | null {
  const file = terms.files[index];
  if (file === undefined) return null;
  const fits = (body: number): boolean => {
    const bytes =
      revealScriptBytes([]) + envelopeBytes(envelopeLengths(terms, { first: index }, { ...file, body }, 0));
    return revealWeight(terms, { first: index, count: 1 }, bytes) <= max;
  };
  if (!fits(1)) return null;
  // a byte of content weighs at least one unit, so the content has at most `max` bytes
  let [least, most] = [1, max];
  while (most - least > 1) {
    const middle = Math.floor((least + most) / 2);
    if (fits(middle)) least = middle;
    else most = middle;
  }
  return least;
}

function envelopeLengths(
  terms: SettledTerms,
  group: Pick<FileGroup, 'first'>,
  file: FileTerms,
  place: number,
): EnvelopeLengths {
  const pointer = pointerOf(terms, group, place);
  return {
    contentType: textBytes(file.contentType),
    body: bytesOf(file.body),
    contentEncoding: textBytes(file.contentEncoding),
    metaprotocol: textBytes(file.metaprotocol),
    metadata: bytesOf(file.metadata),
    delegate: file.delegate === null ? null : idField(file.delegate).length,
    parents: terms.parentLengths,
    pointer: pointer === null ? null : pointerField(pointer).length,
    rune: place === 0 ? (claimOf(terms)?.length ?? null) : null,
  };
}

const textBytes = (text: string | null): number | null => (text === null ? null : Buffer.byteLength(text));
const bytesOf = (content: Uint8Array | number | null): number | null =>
  typeof content === 'number' || content === null ? content : content.length;
