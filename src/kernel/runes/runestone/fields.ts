import { isAbove, type U128 } from '#kernel/runes/u128.ts';
import { tags } from './tags.ts';

/** Number of values that a mint has. Every other tag has one value. */
const mintValues = 2;

/**
 * The fields of a runestone, which are pairs of tag and value. A taken value is removed. An even tag that remains makes
 * a cenotaph. There are only a few fields, so a scan for each tag is cheaper than a map.
 */
export class Fields {
  readonly #integers: readonly U128[];
  readonly #end: number;
  /** One bit for each tag of `tags`. All these tags are below 32. */
  #taken = 0;

  constructor(integers: readonly U128[], end: number) {
    this.#integers = integers;
    this.#end = end;
  }

  /** Value number `index` of a tag. `null` if the tag has fewer values. */
  value(tag: number, index: number): U128 | null {
    let left = index;
    for (let place = 0; place < this.#end; place += 2)
      if (this.#integers[place] === tag && left-- === 0) return this.#integers[place + 1]!;
    return null;
  }

  markTaken(tag: number): void {
    this.#taken |= 1 << tag;
  }

  /**
   * Takes the first value of a tag. A value above `max` stays, and is treated as absent. `max` is above all safe
   * integers.
   */
  take(tag: number, max: bigint): U128 | null {
    const value = this.value(tag, 0);
    if (value === null || isAbove(value, max)) return null;
    this.markTaken(tag);
    return value;
  }

  /** Like `take`, for a bound that is a safe integer. */
  takeSmall(tag: number, max: number): number | null {
    const value = this.value(tag, 0);
    if (typeof value !== 'number' || value > max) return null;
    this.markTaken(tag);
    return value;
  }

  /** Whether a field with an even tag remains. */
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
