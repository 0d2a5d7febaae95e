import { parseAddress } from '#kernel/bitcoin/parse-address.ts';
import { type BlockHash, parseBlockHash, parseTxid, type Txid } from '#kernel/primitives/hash.ts';
import { type Height, isHeight } from '#kernel/primitives/height.ts';
import { type InscriptionId, parseInscriptionId } from '#kernel/primitives/inscription-id.ts';
import type { NetworkParameters } from '#kernel/primitives/network.ts';
import { parseRune, type Rune } from '#kernel/runes/rune.ts';
import { hasFormOfRuneId, parseRuneId, type RuneId } from '#kernel/runes/rune-id.ts';
import { parseSat } from '#kernel/sats/parse-sat.ts';
import { isSat, type Sat } from '#kernel/sats/sat.ts';

/** Notations of a sat, as ord names them. */
export type SatForm = 'number' | 'name' | 'degree' | 'decimal' | 'percentile';

/** One thing that the form of a text can mean. A later step checks whether the thing exists. */
export type Notation =
  | { readonly kind: 'inscription id'; readonly id: InscriptionId | null }
  /**
   * `isMarked` is true if the number has a `#`, so that it can only mean an inscription. `inscription` or `height` is
   * null if no inscription, or no block, can have this number.
   */
  | {
      readonly kind: 'number';
      readonly inscription: number | null;
      readonly height: Height | null;
      readonly isMarked: boolean;
    }
  /** A hash of 64 hex digits. It can belong to a block, a transaction or a file. */
  | { readonly kind: 'hash'; readonly block: BlockHash; readonly txid: Txid; readonly hex: string }
  | { readonly kind: 'outpoint'; readonly text: string }
  | { readonly kind: 'satpoint'; readonly text: string }
  | { readonly kind: 'address'; readonly address: string }
  /** `id` is null if the numbers are too large for any rune. */
  | { readonly kind: 'rune id'; readonly id: RuneId | null }
  /** `isSpaced` is true if the name has bullets, so that it can only mean a rune. */
  | { readonly kind: 'rune'; readonly rune: Rune; readonly isSpaced: boolean }
  /** `sat` is null if the notation is right, but no sat has its numbers. */
  | { readonly kind: 'sat'; readonly form: SatForm; readonly text: string; readonly sat: Sat | null }
  /** A name that people gave to a satribute or a collection. */
  | { readonly kind: 'name'; readonly name: string };

/**
 * Maximum number of characters of a text that is read. Names of collections have up to 100 characters, and satpoints
 * have up to 96.
 */
const textCharsMax = 200;

/**
 * Everything that the form of a text can mean, most certain first. One text may have several meanings. Surrounding
 * blanks are ignored. Pure and never throws.
 */
export function readNotations(given: string, network: NetworkParameters): Notation[] {
  const text = given.trim();
  if (text === '' || text.length > textCharsMax) return [];
  const whole = wholeNotation(text, network);
  if (whole !== null) return [whole];
  return [
    ...numberNotations(text),
    ...runeIdNotation(text),
    ...runeNotation(text),
    ...satNotation(text),
    ...nameNotation(text),
  ];
}

/** A notation that is too long to mean anything else. */
function wholeNotation(text: string, network: NetworkParameters): Notation | null {
  const [block, txid] = [parseBlockHash(text), parseTxid(text)];
  if (block !== null && txid !== null) return { kind: 'hash', block, txid, hex: text.toLowerCase() };
  if (/^[0-9a-f]{64}i\d+$/iu.test(text)) return { kind: 'inscription id', id: parseInscriptionId(text) };
  if (/^[0-9a-f]{64}:\d{1,10}$/iu.test(text)) return { kind: 'outpoint', text: text.toLowerCase() };
  if (/^[0-9a-f]{64}:\d{1,10}:\d{1,20}$/iu.test(text)) return { kind: 'satpoint', text: text.toLowerCase() };
  const address = paymentUri.exec(text)?.[1] ?? text;
  return parseAddress(address, network).kind === 'script'
    ? { kind: 'address', address: inLowerCase(address, network) }
    : null;
}

/** The address in a payment link (BIP 21). QR codes and wallets use this form. */
const paymentUri = /^bitcoin:([a-z0-9]+)(?:\?.*)?$/iu;

/**
 * Returns an address in lower case, because QR codes often contain addresses in capitals. If the case of an address
 * matters, the address stays unchanged.
 */
function inLowerCase(address: string, network: NetworkParameters): string {
  const lower = address.toLowerCase();
  return parseAddress(lower, network).kind === 'script' ? lower : address;
}

/** Largest number of an inscription. Numbers and keys of inscriptions are integers in Postgres. */
const inscriptionNumberMax = 2 ** 31 - 1;

/** Notations that have only digits, also in groups as on pages: the number of an inscription, a height, and a sat. */
function numberNotations(text: string): Notation[] {
  const match = /^(#?)(-?)(\d{1,63}|\d{1,3}(?:,\d{3})+)$/u.exec(text);
  if (match === null) return [];
  const [, mark, sign, digits = ''] = match;
  const size = Number(digits.replaceAll(',', ''));
  const isPlain = mark === '' && sign === '';
  const signed = sign === '-' ? -size : size;
  const number: Notation = {
    kind: 'number',
    inscription: size > inscriptionNumberMax ? null : signed,
    height: isPlain && isHeight(size) ? size : null,
    isMarked: mark === '#',
  };
  return isPlain && isSat(size)
    ? [number, { kind: 'sat', form: 'number', text: String(size), sat: size }]
    : [number];
}

const runeIdNotation = (text: string): Notation[] =>
  hasFormOfRuneId(text) ? [{ kind: 'rune id', id: parseRuneId(text) }] : [];

/**
 * Letters of a rune in any case, with the spacers that people type: bullets, middle dots, full stops, hyphens, blanks.
 * Spacers are not part of the name, so any spacers lead to the rune.
 */
const lettersOfRune = /^[A-Za-z]+(?:[•·.\- ][A-Za-z]+)*$/u;

function runeNotation(text: string): Notation[] {
  if (!lettersOfRune.test(text)) return [];
  const rune = parseRune(text.replaceAll(/[^A-Za-z]/gu, '').toUpperCase());
  return rune === null ? [] : [{ kind: 'rune', rune, isSpaced: text.includes('•') }];
}

/** A degree. Its marks are the marks that ord writes, or the marks of a keyboard. */
const degree = /^(\d{1,10})°(\d{1,10})[′'’](\d{1,10})(?:″|"|”|''|′′)(?:(\d{1,20})(?:‴|'''|′′′))?$/u;
const satForms: readonly (readonly [SatForm, RegExp])[] = [
  ['decimal', /^\d{1,10}\.\d+$/u],
  ['percentile', /^\d{1,3}(?:\.\d+)?%$/u],
  // a name of twelve letters would be a number above the supply
  ['name', /^[a-z]{1,11}$/u],
];

/** The notations of a sat, except its number. */
function satNotation(text: string): Notation[] {
  const marks = degree.exec(text);
  if (marks !== null) {
    const [, hour = '', minute = '', second = '', third] = marks;
    const written = `${hour}°${minute}′${second}″${third === undefined ? '' : `${third}‴`}`;
    return [satOf('degree', written)];
  }
  const form = satForms.find(([, pattern]) => pattern.test(text))?.[0];
  return form === undefined ? [] : [satOf(form, text)];
}

function satOf(form: SatForm, text: string): Notation {
  const parsed = parseSat(text);
  return { kind: 'sat', form, text, sat: 'sat' in parsed ? parsed.sat : null };
}

/** The name notation of texts with a letter or a digit. No name has a NUL, which Postgres refuses. */
const nameNotation = (name: string): Notation[] =>
  /[\p{L}\p{N}]/u.test(name) && !name.includes('\0') && name.isWellFormed() ? [{ kind: 'name', name }] : [];
