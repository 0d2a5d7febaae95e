import { strict as assert } from 'node:assert';
import type { Brand } from '#kernel/primitives/brand.ts';
import { maxU128 } from './u128.ts';

/**
 * The name of a rune as ord counts it: A is 0, Z is 25, AA is 26, up to 2^128 - 1, which has 28 letters (ord
 * crates/ordinals/src/rune.rs). Two runes never have the same.
 */
export type Rune = Brand<bigint, 'Rune'>;

const letters = 26n;
const firstLetter = 65;
const nameMax = 28;
const namePattern = /^[A-Z]{1,28}$/u;

/** The first name of 27 letters, from which on names go to etchings without a name. */
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

/** The name that letters spell; null for other characters and above 2^128 - 1. */
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

/** Names of one length, by their numbers. */
interface RuneRange {
  readonly first: bigint;
  readonly last: bigint;
}

/**
 * The numbers of all names that begin with some letters: one range for each length, because numbers count short names
 * first. Empty for other characters.
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

/** Whether the name cannot be chosen. */
export function isReservedRune(rune: Rune): boolean {
  return rune >= firstReserved;
}

/** The name of an etching without a name, by its place. */
export function reservedRune(block: number | bigint, tx: number): Rune {
  return asRune(firstReserved + ((BigInt(block) << 32n) | BigInt(tx)));
}

/**
 * Number of blocks from a commitment to the first one that may etch its name, which is its sixth confirmation (ord,
 * `Runestone::COMMIT_CONFIRMATIONS`).
 */
export const maturityBlocks = 5;

/** Bytes that a transaction before the etching pushes to claim the name: little endian, without zeros at the end. */
export function runeCommitment(rune: Rune): Uint8Array {
  const bytes: number[] = [];
  for (let left: bigint = rune; left > 0n; left >>= 8n) bytes.push(Number(left & 0xffn));
  return Uint8Array.from(bytes);
}
