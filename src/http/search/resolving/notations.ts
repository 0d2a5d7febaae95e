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

/** One thing that a text can mean by its form alone. Its existence is checked later. */
export type Notation =
  | { readonly kind: 'inscription id'; readonly id: InscriptionId | null }
  /**
   * `isMarked`: the number has a `#`, so it can only mean an inscription. `inscription` or `height` null: no
   * inscription, or no block, can have this number.
   */
  | {
      readonly kind: 'number';
      readonly inscription: number | null;
      readonly height: Height | null;
      readonly isMarked: boolean;
    }
  /** A hash of 64 hex digits: of a block, a transaction or a file. */
  | { readonly kind: 'hash'; readonly block: BlockHash; readonly txid: Txid; readonly hex: string }
  | { readonly kind: 'outpoint'; readonly text: string }
  | { readonly kind: 'satpoint'; readonly text: string }
  | { readonly kind: 'address'; readonly address: string }
  /** `id` null: the numbers are too large for any rune. */
  | { readonly kind: 'rune id'; readonly id: RuneId | null }
  /** `isSpaced`: the name has bullets, so it can only mean a rune. */
  | { readonly kind: 'rune'; readonly rune: Rune; readonly isSpaced: boolean }
  /** `sat` null: the notation is right, but its numbers name no sat. */
  | { readonly kind: 'sat'; readonly form: SatForm; readonly text: string; readonly sat: Sat | null }
  /** A name given by people: of a satribute or a collection. */
  | { readonly kind: 'name'; readonly name: string };

/** Maximum number of characters of a text that is read. Names of collections have up to 100, satpoints up to 96. */
const textCharsMax = 200;

/**
 * Everything that a text can mean by its form, most certain first. One text may mean several things. Surrounding blanks
 * are ignored. Total and pure.
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

/** The address of a payment link (BIP 21), the form of QR codes and wallets. */
const paymentUri = /^bitcoin:([a-z0-9]+)(?:\?.*)?$/iu;

/**
 * An address in its usual lower case, because QR codes contain it in capitals. An address whose case matters stays
 * unchanged.
 */
function inLowerCase(address: string, network: NetworkParameters): string {
  const lower = address.toLowerCase();
  return parseAddress(lower, network).kind === 'script' ? lower : address;
}

/** Maximum number of an inscription. Numbers and keys of inscriptions are integers of Postgres. */
const inscriptionNumberMax = 2 ** 31 - 1;

/** Notations of digits, also in groups as pages show them: the number of an inscription, a height, and a sat. */
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
 * Spacers are not part of the name, so any of them lead to the rune.
 */
const lettersOfRune = /^[A-Za-z]+(?:[•·.\- ][A-Za-z]+)*$/u;

function runeNotation(text: string): Notation[] {
  if (!lettersOfRune.test(text)) return [];
  const rune = parseRune(text.replaceAll(/[^A-Za-z]/gu, '').toUpperCase());
  return rune === null ? [] : [{ kind: 'rune', rune, isSpaced: text.includes('•') }];
}

/** A degree, with the marks that ord writes or with the marks of a keyboard. */
const degree = /^(\d{1,10})°(\d{1,10})[′'’](\d{1,10})(?:″|"|”|''|′′)(?:(\d{1,20})(?:‴|'''|′′′))?$/u;
const satForms: readonly (readonly [SatForm, RegExp])[] = [
  ['decimal', /^\d{1,10}\.\d+$/u],
  ['percentile', /^\d{1,3}(?:\.\d+)?%$/u],
  // a name of twelve letters is above the supply
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
