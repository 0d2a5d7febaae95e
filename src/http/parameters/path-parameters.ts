import type { BlockQuestion } from '#chain/blocks/block.queries.ts';
import type { InscriptionQuestion } from '#chain/inscriptions/inscription.queries.ts';
import type { Outpoint } from '#chain/outputs/output.queries.ts';
import type { RuneQuestion } from '#chain/runes/rune.queries.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { parseBlockHash, parseTxid, type Txid } from '#kernel/primitives/hash.ts';
import { type Height, parseHeight } from '#kernel/primitives/height.ts';
import { type InscriptionId, parseInscriptionId } from '#kernel/primitives/inscription-id.ts';
import type { Rune } from '#kernel/runes/rune.ts';
import { hasFormOfRuneId, parseRuneId } from '#kernel/runes/rune-id.ts';
import { parseSpacedRune, runeNameForm, whyNoSpacedRune } from '#kernel/runes/spaced-rune.ts';
import { parseSat } from '#kernel/sats/parse-sat.ts';
import { parseUnsigned } from '#kernel/sats/rust-numbers.ts';
import { lastSat, type Sat } from '#kernel/sats/sat.ts';

/** Maximum number of characters of a parameter that an error quotes. Valid parameters are not longer. */
const quotedMax = 80;

function invalid(words: string): AppError {
  return new AppError('request_invalid', words);
}

/** Parses the inscription id in a path. Throws `request_invalid`. */
export function inscriptionIdOf(text: string): InscriptionId {
  const id = parseInscriptionId(text);
  if (id === null) throw invalid('this is not an inscription id');
  return id;
}

/**
 * Whether a text that stands for an inscription is the name of a sat. Inscription ids are longer than such names, and
 * inscription numbers have digits.
 */
export const isSatName = (text: string): boolean => /^[a-z]{1,11}$/u.test(text);

/**
 * Parses an id, a number, or the name of a sat. Throws `request_invalid`. Messages about sats are the same as in ord.
 */
export function inscriptionQuestionOf(text: string): InscriptionQuestion {
  const id = parseInscriptionId(text);
  if (id !== null) return { kind: 'id', id };
  // accept at most as many digits as ord
  const number = /^-?\d{1,63}$/u.test(text) ? Number(text) : Number.NaN;
  if (Math.abs(number) < 2 ** 31) return { kind: 'number', number };
  if (isSatName(text)) return { kind: 'sat', sat: satOf(text) };
  throw invalid('an inscription is named by its id or its number');
}

/** Parses a rune's name (with spacers or without), id or number. Throws `request_invalid`. */
export function runeQuestionOf(text: string): RuneQuestion {
  const id = parseRuneId(text);
  if (id !== null) return { kind: 'id', id };
  const number = /^\d{1,63}$/u.test(text) ? parseUnsigned(text, 64) : null;
  if (number !== null && 'value' in number) return { kind: 'number', number: number.value };
  const spaced = parseSpacedRune(text);
  if (spaced !== null) return { kind: 'rune', rune: spaced.rune };
  throw new AppError(
    'request_invalid',
    `${quoted(text)} names no rune, because ${whyNoRune(text)}. Name a rune by its name in capital letters, its id <block>:<transaction> or its number`,
    { parameter: 'rune' },
  );
}

function whyNoRune(text: string): string {
  if (/^\d+$/u.test(text)) return 'the number is above 2^64 - 1';
  if (hasFormOfRuneId(text))
    return 'the block has at most 20 digits and is at most 2^64 - 1, and the transaction has at most 10 digits and is at most 2^32 - 1';
  return whyNoSpacedRune(text);
}

/** Parses a rune's name, with spacers or without. The rune need not exist. Throws `request_invalid`. */
export function runeNameOf(text: string): Rune {
  const spaced = parseSpacedRune(text);
  if (spaced !== null) return spaced.rune;
  throw new AppError(
    'request_invalid',
    `${quoted(text)} is not the name of a rune (${whyNoSpacedRune(text)}). ${runeNameForm}`,
    { parameter: 'rune' },
  );
}

/** Parses a height or a hash. Throws `request_invalid`. */
export function blockQuestionOf(text: string): BlockQuestion {
  const hash = parseBlockHash(text);
  if (hash !== null) return { kind: 'hash', hash };
  const height = parseHeight(text);
  if (height !== null) return { kind: 'height', height };
  throw invalid('a block is named by its height or its hash');
}

export function heightOf(text: string): Height {
  const question = blockQuestionOf(text);
  if (question.kind === 'height') return question.height;
  throw invalid('this is not a height');
}

/** Parses an index from 0 of a page, a child or an item. Returns 0 if the text is absent. Throws `request_invalid`. */
export function placeOf(text: string | undefined, name: string): number {
  if (text === undefined) return 0;
  const place = /^\d{1,63}$/u.test(text) ? Number(text) : Number.NaN;
  // ord parses 64 bits; this server refuses larger indexes, and pages far beyond the end are empty
  if (place < 2 ** 32) return place;
  throw invalid(`${name} is not a whole number`);
}

/** Parses 64 hex digits into the 32 bytes of a txid. Throws `request_invalid`. */
export function txidOf(text: string): Txid {
  const txid = parseTxid(text);
  if (txid === null) throw invalid('a transaction is named by its id in 64 hex digits');
  return txid;
}

/** Parses `<txid>:<vout>`. Throws `request_invalid`. */
export function outpointOf(text: string): Outpoint {
  const [, hash = '', digits = ''] = /^([0-9a-f]{64}):(\d{1,10})$/iu.exec(text) ?? [];
  const txid = parseTxid(hash);
  const vout = Number(digits);
  if (txid === null || vout >= 2 ** 32) throw invalid('an output is named by <txid>:<vout>');
  return { txid, vout };
}

/** Parses a sat in any notation. Throws `request_invalid` with ord's message. */
export function satOf(text: string): Sat {
  const parsed = parseSat(text);
  if ('sat' in parsed) return parsed.sat;
  throw invalid(`Invalid URL: ${parsed.fault}`);
}

/** Parses a sat in any notation, for a page. Throws `request_invalid` with a message of this server. */
export function satOfPage(text: string): Sat {
  const parsed = parseSat(text);
  if ('sat' in parsed) return parsed.sat;
  const notations = 'its number, name, decimal, degree or percentile';
  throw invalid(`${quoted(text)} names no sat. Name a sat by ${notations}; the last sat is ${lastSat}`);
}

/** Parses a number that ord reads as 64 bits without a sign. Throws `request_invalid`. */
export function u64Of(text: string, name: string): bigint {
  const read = parseUnsigned(text, 64);
  if ('fault' in read) throw invalid(`${name} is not a whole number`);
  return read.value;
}

/**
 * Parses an index in a list. Indexes from the beginning start at 0, and negative indexes from the end start at -1.
 * Throws `request_invalid`.
 */
export function placeFromEitherEnd(text: string): bigint {
  const place = /^[+-]?\d{1,63}$/u.test(text) ? BigInt(text.replace('+', '')) : null;
  if (place === null || BigInt.asIntN(64, place) !== place) throw invalid('the index is not a whole number');
  return place;
}

/** Parses `<txid>:<vout>:<offset>`. Throws `request_invalid`. */
export function satpointOf(text: string): { readonly outpoint: Outpoint; readonly offset: bigint } {
  const [, outpoint, digits] = /^([0-9a-f]{64}:\d{1,10}):(\d{1,63})$/iu.exec(text) ?? [];
  const offset = parseUnsigned(digits ?? '', 64);
  if (outpoint === undefined || 'fault' in offset)
    throw invalid('a satpoint is named by <txid>:<vout>:<offset>');
  return { outpoint: outpointOf(outpoint), offset: offset.value };
}

/** A parameter, shortened for an error message. */
export function quoted(text: string): string {
  return text.length <= quotedMax ? text : `${text.slice(0, quotedMax)}…`;
}
