import { randomBytes } from 'node:crypto';
import {
  expandScriptKey,
  fingerprintScript,
  type ScriptKey,
  scriptFingerprint,
  scriptLengthMax,
} from './script-fingerprint.ts';
import { wordAt } from './word-at.ts';

/**
 * Maximum share of used slots in the table. Above this share the table doubles, so that searches for a slot stay short.
 */
const loadMax = 0.5;
const slotsMin = 1024;

/**
 * The set of watched scripts, stored as fingerprints of 8 bytes. The table is at most half full: 2 to 4 MB for 100,000
 * scripts. The database has the scripts themselves, and confirms each hit. Scripts that are no longer watched stay in
 * the set until the set is rebuilt.
 */
export class ScriptSet {
  readonly #key: ScriptKey;
  /** Contains 1 for each length that a watched script has. The length alone rules out most outputs of a block. */
  readonly #lengths = new Uint8Array(scriptLengthMax + 1);
  /** Low and high half of the fingerprint in each slot. If both halves are zero, the slot is free. */
  #slots = new Uint32Array(2 * slotsMin);
  #size = 0;

  constructor(key: ScriptKey = expandScriptKey(randomBytes(32))) {
    this.#key = key;
  }

  /** An empty set with the same key, so that existing fingerprints stay valid. */
  emptied(): ScriptSet {
    return new ScriptSet(this.#key);
  }

  get size(): number {
    return this.#size;
  }

  /** Adds a script. Returns the low half of its fingerprint. */
  add(script: Uint8Array): number {
    const view = new DataView(script.buffer, script.byteOffset, script.byteLength);
    this.#lengths[script.length] = 1;
    fingerprintScript(view, 0, script.length, this.#key);
    const { low, high } = scriptFingerprint;
    if (this.#size >= (this.#slots.length / 2) * loadMax) this.#grow();
    if (put(this.#slots, low, high)) this.#size++;
    return low;
  }

  /** Whether the script at `at` is probably watched. */
  has(view: DataView, at: number, length: number): boolean {
    if (length > scriptLengthMax || this.#lengths[length] === 0) return false;
    fingerprintScript(view, at, length, this.#key);
    const { low, high } = scriptFingerprint;
    const slots = this.#slots;
    const mask = slots.length / 2 - 1;
    for (let slot = low & mask; ; slot = (slot + 1) & mask) {
      const slotLow = wordAt(slots, 2 * slot);
      const slotHigh = wordAt(slots, 2 * slot + 1);
      if (slotLow === low && slotHigh === high) return true;
      if (slotLow === 0 && slotHigh === 0) return low === 0 && high === 0;
    }
  }

  /** The low half of a script's fingerprint. Returns -1 if the script is too short or too long to be watched. */
  shortFingerprint(view: DataView, at: number, length: number): number {
    if (length === 0 || length > scriptLengthMax) return -1;
    fingerprintScript(view, at, length, this.#key);
    return scriptFingerprint.low;
  }

  #grow(): void {
    const old = this.#slots;
    this.#slots = new Uint32Array(old.length * 2);
    for (let at = 0; at < old.length; at += 2) {
      const low = wordAt(old, at);
      const high = wordAt(old, at + 1);
      if (low !== 0 || high !== 0) put(this.#slots, low, high);
    }
  }
}

/** Adds a fingerprint to the table. Returns false if it is already present. */
function put(slots: Uint32Array, low: number, high: number): boolean {
  const mask = slots.length / 2 - 1;
  for (let slot = low & mask; ; slot = (slot + 1) & mask) {
    const slotLow = wordAt(slots, 2 * slot);
    const slotHigh = wordAt(slots, 2 * slot + 1);
    if (slotLow === low && slotHigh === high) return false;
    if (slotLow === 0 && slotHigh === 0) {
      slots[2 * slot] = low;
      slots[2 * slot + 1] = high;
      return true;
    }
  }
}
