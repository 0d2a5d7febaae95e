import { charms } from '#kernel/primitives/charm.ts';
import type { Height } from '#kernel/primitives/height.ts';
import { epochBlocks, epochOf, minedAt, periodBlocks } from './epoch.ts';
import { cycleBlocks, type Rarity, rarityOf } from './rarity.ts';
import { decimalDigits } from './rust-numbers.ts';
import { lastSat, type Sat, satSupply } from './sat.ts';

const letters = 26;
const firstLetter = 97;
const coinSats = 100_000_000;
const nineballHeight = 9;

/** A sat in all notations of ord (crates/ordinals/src/sat.rs). */
export interface SatNotations {
  readonly name: string;
  readonly decimal: string;
  readonly degree: string;
  readonly percentile: string;
}

/** Position of a sat in the order of all sats. */
export interface SatStanding {
  readonly height: Height;
  /** The sat's position in the subsidy of its block. ord also calls it `third`. */
  readonly offset: number;
  readonly epoch: number;
  readonly period: number;
  readonly cycle: number;
  readonly rarity: Rarity;
}

/** The name of a sat. The first sat is `nvtdijuwxlp` and the last sat is `a`, so names become shorter. */
export function satName(sat: Sat): string {
  const codes: number[] = [];
  for (let left = satSupply - sat; left > 0; left = Math.floor((left - 1) / letters))
    codes.push(firstLetter + ((left - 1) % letters));
  return String.fromCharCode(...codes.reverse());
}

export function satNotations(sat: Sat): SatNotations {
  const { height, offset } = minedAt(sat);
  const hour = Math.floor(height / cycleBlocks);
  return {
    name: satName(sat),
    decimal: `${height}.${offset}`,
    degree: `${hour}°${height % epochBlocks}′${height % periodBlocks}″${offset}‴`,
    percentile: satPercentile(sat),
  };
}

/**
 * The sat's position as a percentage of all sats, with the digits that Rust prints. It does not always identify the
 * exact sat.
 */
export function satPercentile(sat: Sat): string {
  return `${decimalDigits((sat / lastSat) * 100)}%`;
}

export function satStanding(sat: Sat): SatStanding {
  const { height, offset } = minedAt(sat);
  return {
    height,
    offset,
    epoch: epochOf(sat).epoch,
    period: Math.floor(height / periodBlocks),
    cycle: Math.floor(height / cycleBlocks),
    rarity: rarityOf(sat),
  };
}

/** Whether the decimal digits read the same from both ends. A single digit does. */
export function isPalindrome(sat: number): boolean {
  let reversed = 0;
  for (let left = sat; left > 0; left = Math.floor(left / 10)) reversed = reversed * 10 + (left % 10);
  // reversed numbers beyond 2^53 are rounded, and larger than any sat
  return reversed === sat;
}

/** Stored charms, together with the charms of the sat if the sat is known. `null` if the stored charms are unknown. */
export function withSatCharms(stored: number | null, sat: Sat | null): number | null {
  return stored === null || sat === null ? stored : stored | satCharms(sat);
}

/** The charms that a sat itself has, as bits. */
export function satCharms(sat: Sat): number {
  const rarity = rarityOf(sat);
  return (
    (rarity === 'common' ? 0 : charms[rarity]) |
    (sat % coinSats === 0 ? charms.coin : 0) |
    (minedAt(sat).height === nineballHeight ? charms.nineball : 0) |
    (isPalindrome(sat) ? charms.palindrome : 0)
  );
}
