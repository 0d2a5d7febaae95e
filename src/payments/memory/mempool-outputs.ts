import type { HashKey } from '#indexer/mempool/stream/membership.ts';
import { wordAt } from './word-at.ts';

const entriesMin = 1024;

/**
 * The outputs of mempool transactions, by short fingerprints of their scripts. They show which mempool transactions may
 * pay a newly watched script. An output needs 8 bytes, and each transaction one reference. 200,000 transactions with 3
 * outputs each need 6 MB.
 */
export class MempoolOutputs {
  #fingerprints = new Uint32Array(entriesMin);
  #slots = new Uint32Array(entriesMin);
  #length = 0;
  /** The txid of each slot. Null if the transaction has left the mempool. */
  #txids: (HashKey | null)[] = [];
  readonly #slotOf = new Map<HashKey, number>();

  /** Adds a transaction with the fingerprints of its outputs. */
  add(txid: HashKey, fingerprints: readonly number[]): void {
    this.delete(txid);
    const slot = this.#txids.push(txid) - 1;
    this.#slotOf.set(txid, slot);
    for (const fingerprint of fingerprints) {
      if (this.#length === this.#fingerprints.length) this.#grow();
      this.#fingerprints[this.#length] = fingerprint;
      this.#slots[this.#length++] = slot;
    }
  }

  delete(txid: HashKey): void {
    const slot = this.#slotOf.get(txid);
    if (slot === undefined) return;
    this.#slotOf.delete(txid);
    this.#txids[slot] = null;
    if (this.#txids.length > entriesMin && this.#slotOf.size * 2 < this.#txids.length) this.#compact();
  }

  /** Transactions that probably pay a script with one of these fingerprints. */
  find(fingerprints: ReadonlySet<number>): HashKey[] {
    const found = new Set<HashKey>();
    for (let entry = 0; entry < this.#length; entry++) {
      if (!fingerprints.has(wordAt(this.#fingerprints, entry))) continue;
      const txid = this.#txids[wordAt(this.#slots, entry)] ?? null;
      if (txid !== null) found.add(txid);
    }
    return [...found];
  }

  /**
   * Removes the slots of transactions that have left the mempool. Called when more than half of all slots are such
   * slots.
   */
  #compact(): void {
    const slotOf = new Map<number, number>();
    const txids: HashKey[] = [];
    for (const [slot, txid] of this.#txids.entries()) {
      if (txid !== null) slotOf.set(slot, txids.push(txid) - 1);
    }
    let length = 0;
    for (let entry = 0; entry < this.#length; entry++) {
      const slot = slotOf.get(wordAt(this.#slots, entry));
      if (slot === undefined) continue;
      this.#fingerprints[length] = wordAt(this.#fingerprints, entry);
      this.#slots[length++] = slot;
    }
    this.#length = length;
    this.#txids = txids;
    for (const [slot, txid] of txids.entries()) this.#slotOf.set(txid, slot);
  }

  #grow(): void {
    const fingerprints = new Uint32Array(this.#fingerprints.length * 2);
    const slots = new Uint32Array(fingerprints.length);
    fingerprints.set(this.#fingerprints);
    slots.set(this.#slots);
    this.#fingerprints = fingerprints;
    this.#slots = slots;
  }
}
