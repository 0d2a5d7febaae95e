import { strict as assert } from 'node:assert';
import type { Brand } from '#kernel/primitives/brand.ts';
import { maxU128 } from './u128.ts';

/**
 * The name of a rune as a number, as in ord. A is 0, Z is 25, AA is 26. The largest number is 2^128 - 1, and its name
 * has 28 letters (ord crates/ordinals/src/rune.rs). No two runes have the same name.
 */
export type Rune = Brand<bigint, 'Rune'>;

const letters = 26n;
const firstLetter = 65;
const nameMax = 28;
const namePattern = /^[A-Z]{1,28}$/u;

/** The first name of 27 letters. Etchings without a name get names from here on. */
const firstReserved = 6_402_364_363_415_443_603_228_541_259_936_211_926n;

/** Asserts that an integer is a name. */
export function asRune(value: bigint): Rune {
  assert(value >= 0n && value <= maxU128, `${value} is not the name of a rune`);
  return value as Rune;
}

/** The letters of a name. */
export function runeLetters(rune: Rune): string {
  const codes: number[] = [];
  for (let left = rune + 1n; left > 0n; left = (left - 1n) / letters)
    codes.push(firstLetter + Number((left - 1n) % letters));
  return String.fromCharCode(...codes.reverse());
}

/** Parses the letters of a name. `null` for other characters, and for names above 2^128 - 1. */
export function parseRune(text: string): Rune | null {
  if (text.length > nameMax || !namePattern.test(text)) return null;
  const value = numberOf(text);
  return value <= maxU128 ? (value as Rune) : null;
}

/** The number of a name in capital letters. */
function numberOf(name: string): bigint {
  let value = -1n;
  for (let place = 0; place < name.length; place++)
    value = (value + 1n) * letters + BigInt(name.charCodeAt(place) - firstLetter);
  return value;
}

/** Numbers of names that have the same length. */
interface RuneRange {
  readonly first: bigint;
  readonly last: bigint;
}

/**
 * The numbers of all names that begin with some letters. There is one range for each length, because shorter names have
 * lower numbers. Empty if the prefix has other characters than letters.
 */
export function rangesOfPrefix(prefix: string): RuneRange[] {
  if (!namePattern.test(prefix)) return [];
  const ranges: RuneRange[] = [];
  for (let length = prefix.length; length <= nameMax; length++) {
    const first = numberOf(prefix.padEnd(length, 'A'));
    if (first > maxU128) break;
    const last = numberOf(prefix.padEnd(length, 'Z'));
    ranges.push({ first, last: last > maxU128 ? maxU128 : last });
  }
  return ranges;
}

/** Whether a name is reserved, so that etchings cannot choose it. */
export function isReservedRune(rune: Rune): boolean {
  return rune >= firstReserved;
}

/** The name of an etching without a name, from its block and transaction. */
export function reservedRune(block: number | bigint, tx: number): Rune {
  return asRune(firstReserved + ((BigInt(block) << 32n) | BigInt(tx)));
}

/**
 * Number of blocks from a commitment to the first block that may etch the committed name. That block is the
 * commitment's sixth confirmation (ord, `Runestone::COMMIT_CONFIRMATIONS`).
 */
export const maturityBlocks = 5;

/**
 * Bytes that an earlier transaction pushes to commit to the name of an etching. They are little endian, without zeros
 * at the end.
 */
export function runeCommitment(rune: Rune): Uint8Array {
  const bytes: number[] = [];
  for (let left: bigint = rune; left > 0n; left >>= 8n) bytes.push(Number(left & 0xffn));
  return Uint8Array.from(bytes);
}
