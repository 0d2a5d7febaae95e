import { withRoom } from '#kernel/growable.ts';

/** Ranges of sats that move from inputs to outputs: first in, first out. */
export class RangeQueue {
  /** Pairs (first sat, first sat after the range); `head` to `tail` are still queued. */
  pairs = new Float64Array(256);
  head = 0;
  tail = 0;

  get isEmpty(): boolean {
    return this.head === this.tail;
  }

  /** Number of queued sats. */
  get size(): number {
    let sum = 0;
    for (let at = this.head; at < this.tail; at += 2) sum += this.pairs[at + 1]! - this.pairs[at]!;
    return sum;
  }

  clear(): void {
    this.head = 0;
    this.tail = 0;
  }

  push(start: number, end: number): void {
    this.#reserve(2);
    this.pairs[this.tail++] = start;
    this.pairs[this.tail++] = end;
  }

  /** @param first index of the first pair */
  pushAll(pairs: Float64Array, first: number, count: number): void {
    this.#reserve(count * 2);
    for (let at = first * 2; at < (first + count) * 2; at++) this.pairs[this.tail++] = pairs[at]!;
  }

  /** Moves the remaining ranges to the end of another queue. */
  drainInto(other: RangeQueue): void {
    other.pushAll(this.pairs, this.head / 2, (this.tail - this.head) / 2);
    this.clear();
  }

  #reserve(length: number): void {
    if (this.tail + length > this.pairs.length) this.pairs = withRoom(this.pairs, this.tail + length);
  }
}
