import { strict as assert } from 'node:assert';
import type { TrackedChanges } from './ledger-block.ts';

// Number of partitions. With this many, growth of the table takes a few milliseconds at a time, not half a second.
// Searches are answered on the same thread.
const partitionCount = 256;
const partitionShift = 24;
const firstSlots = 64;
/**
 * Maximum share of used slots. Above it a partition doubles. At 0.75 a probe that misses reads 8 slots, which are in
 * one cache line.
 */
const maxLoad = 0.75;
/** Maximum count that fits in one byte. Larger counts are stored separately. */
const countMax = 255;

/**
 * The fingerprints of all outputs that hold inscriptions, once for each inscription: a multiset of 64-bit numbers,
 * given as two unsigned halves. The set decides, for every input of every block, whether a database query is needed.
 *
 * Open addressing with linear probing in 256 partitions that grow independently. A removal leaves no mark, because
 * later entries move up. A slot has 9 bytes, so 10,000,000 entries take 151 MB, also during growth.
 */
export class TrackedOutputs {
  readonly #partitions: Partition[] = Array.from({ length: partitionCount }, () => new Partition());
  #total = 0;

  /** Number of entries. An entry that was added several times is counted as often. */
  get size(): number {
    return this.#total;
  }

  /** Bytes of all tables. */
  get sizeBytes(): number {
    return this.#partitions.reduce((sum, { words, counts }) => sum + words.byteLength + counts.byteLength, 0);
  }

  has(low: number, high: number): boolean {
    return (this.#partitions[high >>> partitionShift] as Partition).has(notZero(low, high), high);
  }

  add(low: number, high: number): void {
    (this.#partitions[high >>> partitionShift] as Partition).add(notZero(low, high), high);
    this.#total++;
  }

  /**
   * Removes one entry. It must be present, because a missing entry means that a block's spend would have been missed.
   */
  remove(low: number, high: number): void {
    (this.#partitions[high >>> partitionShift] as Partition).remove(notZero(low, high), high);
    this.#total--;
  }

  /**
   * Applies the changes of a block, after its commit. Additions come first, because a batch may spend outputs that it
   * made.
   */
  apply(changes: TrackedChanges): void {
    const { addLow, addHigh, removeLow, removeHigh } = changes;
    for (let at = 0; at < addLow.length; at++) this.add(addLow[at]!, addHigh[at]!);
    for (let at = 0; at < removeLow.length; at++) this.remove(removeLow[at]!, removeHigh[at]!);
  }

  clear(): void {
    this.#partitions.forEach((_, at) => {
      this.#partitions[at] = new Partition();
    });
    this.#total = 0;
  }
}

/** 0 marks a free slot, so that a probe need not read counts. The fingerprint 0 is therefore stored as 1. */
function notZero(low: number, high: number): number {
  return (low | high) === 0 ? 1 : low;
}

class Partition {
  /** Low and high half of every slot, next to each other, so that a probe reads one cache line. 0 in a free slot. */
  words = new Uint32Array(2 * firstSlots);
  /** Number of times that a slot's entry was added. */
  counts = new Uint8Array(firstSlots);
  #mask = firstSlots - 1;
  #taken = 0;
  /** The counts above `countMax`, by entry. Needed for outputs with hundreds of inscriptions. */
  #beyond: Map<string, number> | null = null;

  has(low: number, high: number): boolean {
    const { words } = this;
    const mask = this.#mask;
    for (let slot = low & mask; ; slot = (slot + 1) & mask) {
      const slotLow = words[slot * 2]!;
      const slotHigh = words[slot * 2 + 1]!;
      if (slotLow === low && slotHigh === high) return true;
      if ((slotLow | slotHigh) === 0) return false;
    }
  }

  add(low: number, high: number): void {
    const slot = this.#slotOf(low, high);
    const count = this.counts[slot]!;
    if (count === countMax) {
      this.#beyond ??= new Map();
      const name = `${low} ${high}`;
      this.#beyond.set(name, (this.#beyond.get(name) ?? 0) + 1);
      return;
    }
    this.counts[slot] = count + 1;
    if (count > 0) return;
    this.words[slot * 2] = low;
    this.words[slot * 2 + 1] = high;
    this.#taken++;
    if (this.#taken > this.counts.length * maxLoad) this.#grow();
  }

  remove(low: number, high: number): void {
    const slot = this.#slotOf(low, high);
    const count = this.counts[slot]!;
    assert(count > 0, 'an output that was spent is not among the tracked ones');
    if (count === countMax && this.#removeBeyond(low, high)) return;
    if (count > 1) this.counts[slot] = count - 1;
    else this.#free(slot);
  }

  #removeBeyond(low: number, high: number): boolean {
    const name = `${low} ${high}`;
    const more = this.#beyond?.get(name) ?? 0;
    if (more > 1) this.#beyond?.set(name, more - 1);
    else this.#beyond?.delete(name);
    return more > 0;
  }

  /** The slot of an entry, or the free slot where the entry would be added. */
  #slotOf(low: number, high: number): number {
    const { words, counts } = this;
    const mask = this.#mask;
    let slot = low & mask;
    while (counts[slot] !== 0 && (words[slot * 2] !== low || words[slot * 2 + 1] !== high)) {
      slot = (slot + 1) & mask;
    }
    return slot;
  }

  /** Frees a slot, and moves up the entries that it displaced. */
  #free(slot: number): void {
    const { words, counts } = this;
    const mask = this.#mask;
    let hole = slot;
    for (let at = (hole + 1) & mask; counts[at] !== 0; at = (at + 1) & mask) {
      const home = words[at * 2]! & mask;
      // the entry may move if the gap is between its home slot and its current slot, also across the end of the table
      if (((at - home) & mask) < ((at - hole) & mask)) continue;
      words[hole * 2] = words[at * 2]!;
      words[hole * 2 + 1] = words[at * 2 + 1]!;
      counts[hole] = counts[at]!;
      hole = at;
    }
    words[hole * 2] = 0;
    words[hole * 2 + 1] = 0;
    counts[hole] = 0;
    this.#taken--;
  }

  #grow(): void {
    const { words, counts } = this;
    const slots = counts.length * 2;
    this.words = new Uint32Array(2 * slots);
    this.counts = new Uint8Array(slots);
    this.#mask = slots - 1;
    for (let at = 0; at < counts.length; at++) {
      if (counts[at] === 0) continue;
      const slot = this.#slotOf(words[at * 2]!, words[at * 2 + 1]!);
      this.words[slot * 2] = words[at * 2]!;
      this.words[slot * 2 + 1] = words[at * 2 + 1]!;
      this.counts[slot] = counts[at]!;
    }
  }
}
