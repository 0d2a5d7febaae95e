import { maxHeight, trustedHeight } from '#kernel/primitives/height.ts';
import { subsidyAt } from '#kernel/primitives/network.ts';
import { cycleEpochs, epochBlocks, firstSatAt, periodBlocks } from './epoch.ts';
import { parseDouble, parseUnsigned } from './rust-numbers.ts';
import { isSat, lastSat, type Sat, satSupply, trustedSat } from './sat.ts';

/** A sat, or ord's message if a text does not name a sat. */
export type ParsedSat = { readonly sat: Sat } | { readonly fault: string };

/** How many blocks the position in a period shifts against the position in an epoch with each halving. */
const halvingShift = epochBlocks % periodBlocks;
/** Maximum number of characters of a text in an error. The longest valid notation has 34 characters. */
const quotedMax = 80;

class Fault extends Error {}

/**
 * Parses a sat in any of ord's notations: number, name, degree, decimal or percentile (crates/ordinals/src/sat.rs). Any
 * lower-case letter makes a text a name. Two kinds of texts that ord accepts by accident are refused: `NAN%`, and
 * cycles whose height exceeds 32 bits.
 */
export function parseSat(text: string): ParsedSat {
  try {
    return { sat: notationOf(text)(text) };
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    const quoted = text.length <= quotedMax ? text : `${text.slice(0, quotedMax)}…`;
    return { fault: `failed to parse sat \`${quoted}\`: ${error.message}` };
  }
}

function notationOf(text: string): (text: string) => Sat {
  if (/[a-z]/u.test(text)) return satOfName;
  if (text.includes('°')) return satOfDegree;
  if (text.includes('%')) return satOfPercentile;
  return text.includes('.') ? satOfDecimal : satOfNumber;
}

function satOfNumber(text: string): Sat {
  const number = Number(unsigned(text, 64));
  if (!isSat(number)) throw new Fault('invalid integer range');
  return number;
}

function satOfName(text: string): Sat {
  let fromEnd = 0;
  for (const character of text) {
    if (!/^[a-z]$/u.test(character)) throw new Fault('invalid character in name');
    fromEnd = fromEnd * 26 + character.charCodeAt(0) - 96;
    if (fromEnd > satSupply) throw new Fault('invalid name range');
  }
  return trustedSat(satSupply - fromEnd);
}

function satOfDecimal(text: string): Sat {
  const [height, offset] = cut(text, '.', 'missing period');
  return satInBlock(Number(unsigned(height, 32)), unsigned(offset, 64));
}

function satOfDegree(text: string): Sat {
  const [hours, afterHours] = cut(text, '°', 'missing degree symbol');
  const cycle = Number(unsigned(hours, 32));
  const [minutes, afterMinutes] = cut(afterHours, '′', 'missing minute symbol');
  const inEpoch = Number(unsigned(minutes, 32));
  if (inEpoch >= epochBlocks) throw new Fault('invalid epoch offset');
  const [seconds, afterSeconds] = cut(afterMinutes, '″', 'missing second symbol');
  const inPeriod = Number(unsigned(seconds, 32));
  if (inPeriod >= periodBlocks) throw new Fault('invalid period offset');
  const shift = inPeriod + epochBlocks * cycleEpochs - inEpoch;
  if (shift % halvingShift !== 0)
    throw new Fault('relationship between epoch offset and period offset must be multiple of 336');
  const epoch = cycle * cycleEpochs + (shift % periodBlocks) / halvingShift;
  const thirds = afterSeconds.indexOf('‴');
  const offset = thirds === -1 ? 0n : unsigned(afterSeconds.slice(0, thirds), 64);
  if (afterSeconds.slice(thirds + 1) !== '') throw new Fault('trailing character');
  return satInBlock(epoch * epochBlocks + inEpoch, offset);
}

function satOfPercentile(text: string): Sat {
  if (!text.endsWith('%')) throw new Fault('invalid percentile');
  const read = parseDouble(text.slice(0, -1));
  if ('fault' in read) throw new Fault(`invalid float: ${read.fault}`);
  // adding 0 removes the sign of a negative zero
  const number = Math.round((read.value / 100) * lastSat) + 0;
  if (!(read.value >= 0) || !(number <= lastSat)) throw new Fault('invalid percentile');
  return trustedSat(number);
}

function satInBlock(height: number, offset: bigint): Sat {
  // heights above the largest `Height` mine nothing
  const block = trustedHeight(Math.min(height, maxHeight));
  if (offset >= BigInt(subsidyAt(block))) throw new Fault('invalid block offset');
  return trustedSat(firstSatAt(block) + Number(offset));
}

function unsigned(text: string, bits: 32 | 64): bigint {
  const read = parseUnsigned(text, bits);
  if ('fault' in read) throw new Fault(`invalid integer: ${read.fault}`);
  return read.value;
}

/** The parts of a text before and after the first separator. */
function cut(text: string, separator: string, otherwise: string): [string, string] {
  const at = text.indexOf(separator);
  if (at === -1) throw new Fault(otherwise);
  return [text.slice(0, at), text.slice(at + separator.length)];
}
