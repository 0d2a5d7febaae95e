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

/** A sat in every notation of ord (crates/ordinals/src/sat.rs). */
export interface SatNotations {
  readonly name: string;
  readonly decimal: string;
  readonly degree: string;
  readonly percentile: string;
}

/** Place of a sat in the order of all. */
export interface SatStanding {
  readonly height: Height;
  /** Its place in the subsidy of its block, which ord calls `third` too. */
  readonly offset: number;
  readonly epoch: number;
  readonly period: number;
  readonly cycle: number;
  readonly rarity: Rarity;
}

/** `nvtdijuwxlp` is the first sat, `a` the last: names become shorter. */
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

/** Its part of all sats, as Rust prints the double. It does not always identify the exact sat. */
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

/** Whether the decimal digits read the same from both ends. Those of one digit do. */
export function isPalindrome(sat: number): boolean {
  let reversed = 0;
  for (let left = sat; left > 0; left = Math.floor(left / 10)) reversed = reversed * 10 + (left % 10);
  // numbers reversed beyond 2^53 are rounded, and larger than any sat
  return reversed === sat;
}

/** Stored charms with those of the sat, if it is known. Null: unknown. */
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
