import { parseAddress } from '#kernel/bitcoin/parse-address.ts';
import type { NetworkParameters } from '#kernel/primitives/network.ts';
import { lastSat } from '#kernel/sats/sat.ts';
import { grouped } from '#web/format.ts';
import type { Meaning } from './meaning.ts';
import { type Notation, readNotations } from './notations.ts';

type Found = readonly Pick<Meaning, 'kind'>[];

/**
 * Sentences about things that do not exist, although the form of a text could name them. A list of contents alone would
 * not show that the rune, the sat or the address was searched too. Pure.
 *
 * @param found the meanings of the text
 */
export function missesOf(given: string, found: Found, network: NetworkParameters): string[] {
  const address = parseAddress(given.trim(), network);
  if (address.kind === 'refused' && address.reason === 'belongs to another network')
    return [`This is an address of another network, but this server follows ${network.name}.`];
  const words = readNotations(given, network).map((notation) => missWords(notation, found));
  return words.filter((sentence) => sentence !== null);
}

function missWords(notation: Notation, found: Found): string | null {
  if (notation.kind === 'rune id')
    return found.some(({ kind }) => kind === 'rune') ? null : 'No rune with this id is known here.';
  if (notation.kind === 'rune')
    return !notation.isSpaced || found.some(({ kind }) => kind === 'rune')
      ? null
      : 'No rune with this name is known here.';
  if (notation.kind === 'number')
    return found.length > 0 ? null : 'No inscription, block or sat with this number is known here.';
  if (notation.kind !== 'sat' || notation.sat !== null) return null;
  // a decimal or a name is usually a number or a word
  return notation.form === 'degree' || notation.form === 'percentile'
    ? `No sat has this notation. The last sat is ${grouped(lastSat)}, at 100 %.`
    : null;
}
