import type { U128 } from '#kernel/runes/u128.ts';
import { tags } from './tags.ts';

/** Values that a mint takes; every other tag takes one. */
const mintValues = 2;

/**
 * The fields of a runestone: pairs of tag and value. A taken value is removed; a remaining even tag makes a cenotaph.
 * There are a few fields, so a scan for each tag is cheaper than a map of them.
 */
export class Fields {
  readonly #integers: readonly U128[];
  readonly #end: number;
  /** A bit for each tag of `tags`: all are below 32. */
  #taken = 0;

  constructor(integers: readonly U128[], end: number) {
    this.#integers = integers;
    this.#end = end;
  }

  /** Value number `index` of a tag; null: there are fewer. */
  value(tag: number, index: number): U128 | null {
    let left = index;
    for (let place = 0; place < this.#end; place += 2)
      if (this.#integers[place] === tag && left-- === 0) return this.#integers[place + 1]!;
    return null;
  }

  markTaken(tag: number): void {
    this.#taken |= 1 << tag;
  }

  /** Takes the first value of a tag. One above `max` stays, and counts as absent. */
  take(tag: number, max: bigint): U128 | null {
    const value = this.value(tag, 0);
    if (value === null || value > max) return null;
    this.markTaken(tag);
    return value;
  }

  /** The same for a bound that is a safe integer. */
  takeSmall(tag: number, max: number): number | null {
    const value = this.value(tag, 0);
    if (typeof value !== 'number' || value > max) return null;
    this.markTaken(tag);
    return value;
  }

  /** Whether a value of an even tag remains. */
  hasEvenLeft(): boolean {
    let taken = this.#taken;
    let mintsLeft = mintValues;
    for (let place = 0; place < this.#end; place += 2) {
      const tag = this.#integers[place]!;
      if (typeof tag === 'bigint') {
        if ((tag & 1n) === 0n) return true;
        continue;
      }
      if (tag % 2 === 1) continue;
      const bit = 1 << tag;
      if (tag > tags.pointer || (taken & bit) === 0) return true;
      if (tag !== tags.mint || --mintsLeft === 0) taken &= ~bit;
    }
    return false;
  }
}
