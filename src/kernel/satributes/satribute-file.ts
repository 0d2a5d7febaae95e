import { parseTxidHex } from '#kernel/primitives/hash.ts';
import { asHeight } from '#kernel/primitives/height.ts';
import { satSupply } from '#kernel/sats/sat.ts';
import type { SatRange } from '#kernel/sats/sat-range.ts';
import { builtInSatributes } from './definitions.ts';
import { provenance } from './provenance.ts';
import { listFrom } from './range-list.ts';
import type { MadeOutput, Satribute, SatributeRule } from './satribute.ts';

/*
 * The rules that an operator sets for satributes without a rule, as JSON (docs/satributes.md, "Rules of the operator").
 * The file is either read completely or refused.
 */

/**
 * Maximum number of bytes of the file. It is enough for the maximum number of ranges, with the longest numbers and
 * blanks.
 */
export const satributeFileBytesMax = 16_000_000;
/**
 * Maximum number of ranges in the file. They take 13 MB of memory. The longest known list of a vendor has a tenth of
 * them.
 */
const rangesMax = 200_000;
/**
 * Maximum number of outputs in the file. Tracing takes minutes to hours for each output, and outputs are traced one
 * after another through the node.
 */
const outputsMax = 100;
/** Maximum number of characters of texts that pages show. */
const wordsMax = 1_000;
/** Maximum height in the file. No block has a higher height in this century. */
const heightMax = 10_000_000;
/** Maximum index of an output. No transaction has more outputs than an integer of Postgres can count. */
const voutMax = 2 ** 31 - 1;

const fields = ['id', 'version', 'origin', 'completeness', 'ranges', 'outputs'];
const unchecked = 'given by the operator of this server; not compared with any source';
const ofOutputs = 'complete by this rule: all sats of its outputs, first in, first out';

export type SatributeFile =
  | { readonly kind: 'read'; readonly satributes: readonly Satribute[] }
  /** A sentence for each wrong entry. The sentence names the entry. */
  | { readonly kind: 'wrong'; readonly wrong: readonly string[] };

/** Parses a file. Never throws: any text is either read or wrong. */
export function readSatributeFile(text: string): SatributeFile {
  const entries = parsed(text);
  if (!Array.isArray(entries)) return { kind: 'wrong', wrong: ['it is not JSON with a list of satributes'] };
  const satributes: Satribute[] = [];
  const wrong: string[] = [];
  const room = { ranges: rangesMax, outputs: outputsMax };
  for (const [place, entry] of (entries as unknown[]).entries()) {
    const given = isObject(entry) ? entry : {};
    const read = readEntry(given, room);
    const isTwice = typeof read !== 'string' && satributes.some(({ id }) => id === read.id);
    if (typeof read !== 'string' && !isTwice) satributes.push(read);
    else wrong.push(`${entryName(place, given)} ${typeof read === 'string' ? read : 'is there twice'}`);
  }
  return wrong.length > 0 ? { kind: 'wrong', wrong } : { kind: 'read', satributes };
}

function entryName(place: number, { id }: Given): string {
  return `entry ${place + 1}${typeof id === 'string' ? ` (${shown(id)})` : ''}`;
}

type Given = Readonly<Record<string, unknown>>;

/** How many ranges and outputs the rest of the file may have. */
interface Room {
  ranges: number;
  outputs: number;
}

/** The definition, or its fault as the rest of a sentence. */
function readEntry(given: Given, room: Room): Satribute | string {
  const { id, version, origin, completeness, ranges, outputs } = given;
  const builtIn = builtInSatributes.find((known) => known.id === id);
  if (builtIn === undefined) return `has an id that is not one of ${openIds.join(', ')}`;
  const other = Object.keys(given).find((name) => !fields.includes(name));
  if (other !== undefined) return `has a field ${shown(other)}, but the fields are ${fields.join(', ')}`;
  if (builtIn.rule.kind !== 'unknown')
    return 'has an id whose rule is built in, and a file cannot replace it';
  if (!isInteger(version, 1, 1_000_000)) return 'needs a version, an integer from 1 to 1000000';
  if (!isWords(origin)) return `needs an origin, a text of 1 to ${wordsMax} characters`;
  if (completeness !== undefined && !isWords(completeness))
    return `has a completeness that is not a text of 1 to ${wordsMax} characters`;
  const rule = readRule(ranges, outputs, room);
  if (typeof rule === 'string') return rule;
  return {
    ...builtIn,
    version,
    origin,
    completeness: completeness ?? (rule.kind === 'ranges' ? unchecked : ofOutputs),
    // the rules of the file are for the network that the server is on
    networks: 'all',
    rule,
  };
}

const openIds = builtInSatributes.filter(({ rule }) => rule.kind === 'unknown').map(({ id }) => id);

function readRule(ranges: unknown, outputs: unknown, room: Room): SatributeRule | string {
  if ((ranges === undefined) === (outputs === undefined)) return 'needs either ranges or outputs';
  return ranges === undefined ? readOutputs(outputs, room) : readRanges(ranges, room);
}

function readRanges(given: unknown, room: Room): SatributeRule | string {
  if (!Array.isArray(given) || given.length === 0)
    return 'has ranges that are not a list of [start, end] with at least one range';
  room.ranges -= given.length;
  if (room.ranges < 0) return `has too many ranges, because a file may have at most ${rangesMax}`;
  const ranges: SatRange[] = [];
  let before = 0;
  for (const [place, range] of (given as unknown[]).entries()) {
    const name = `range ${place + 1}`;
    if (!Array.isArray(range) || range.length !== 2) return `has a ${name} that is not [start, end]`;
    const [start, end] = range as readonly unknown[];
    if (!isInteger(start, 0, satSupply) || !isInteger(end, 0, satSupply))
      return `has a ${name} that is not two integers from 0 to ${satSupply}, the supply of sats`;
    if (start >= end)
      return `has an empty ${name}, because its end is not part of it and must be above its start`;
    if (start < before) return `has a ${name} that begins before the end of the range above it`;
    before = end;
    ranges.push({ start, end });
  }
  // merge ranges that touch
  return { kind: 'ranges', ranges: listFrom(ranges) };
}

function readOutputs(given: unknown, room: Room): SatributeRule | string {
  if (!Array.isArray(given) || given.length === 0)
    return 'has outputs that are not a list of "<txid>:<vout>@<height>" with at least one output';
  room.outputs -= given.length;
  if (room.outputs < 0) return `has too many outputs, because a file may have at most ${outputsMax}`;
  const outputs: MadeOutput[] = [];
  for (const [place, text] of (given as unknown[]).entries()) {
    const output = typeof text === 'string' ? readOutput(text) : null;
    if (output === null)
      return `has an output ${place + 1} that is not <txid>:<vout>@<height>, with a height above 0`;
    if (outputs.some(({ txid, vout }) => txid === output.txid && vout === output.vout))
      return `has an output ${place + 1} that is already in the list`;
    outputs.push(output);
  }
  return provenance(outputs);
}

/** Parses an output. An output of block 0 is refused, because it was never spent and a range can name its sats. */
function readOutput(text: string): MadeOutput | null {
  const [, id = '', vout = '', height = ''] =
    /^([0-9a-f]{64}):(0|[1-9]\d{0,9})@([1-9]\d{0,7})$/iu.exec(text) ?? [];
  const txid = parseTxidHex(id);
  if (txid === null || Number(vout) > voutMax || Number(height) > heightMax) return null;
  return { txid, vout: Number(vout), height: asHeight(Number(height)) };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

const isObject = (value: unknown): value is Given =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isInteger = (value: unknown, least: number, most: number): value is number =>
  typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most;
const isWords = (value: unknown): value is string =>
  typeof value === 'string' && value.length > 0 && value.length <= wordsMax;
/** Shortens a text from outside for a message. */
const shown = (text: string): string => (text.length <= 50 ? text : `${text.slice(0, 50)}…`);
