import { LRUCache } from 'lru-cache';
import type pg from 'pg';
import { type KeyFacts, KeyLookUps } from './key-look-ups.ts';

/**
 * How long a key is remembered before it is looked up again: a revoked key is refused everywhere after this time at
 * the latest.
 */
export const keyMemoryMs = 5000;
/** Remembered keys that were valid: 600 bytes each, 1,000 with terms of their own. At most 20 MB. */
const goodKeysMax = 20_000;
/**
 * Remembered unknown keys, which clients send again and again. Kept separately, so that made-up keys never displace
 * valid ones.
 */
const otherKeysMax = 5_000;
/**
 * Time between two look-ups for addresses from which many unknown keys come: ten statements a second, whatever is
 * tried. A valid key that is new to the process waits this long there, once.
 */
const gatheringMs = 100;

interface Entry {
  readonly found: Promise<KeyFacts | null>;
  readonly until: number;
}

/** Valid keys by hash, remembered for some seconds. */
export class KeyDirectory {
  readonly #now: () => number;
  readonly #soon: KeyLookUps;
  readonly #later: KeyLookUps;
  /** Keys that the last look-up found, and others. */
  readonly #good = new LRUCache<string, Entry>({ max: goodKeysMax });
  readonly #others = new LRUCache<string, Entry>({ max: otherKeysMax });

  constructor(pool: pg.Pool, now: () => number = () => performance.now()) {
    this.#now = now;
    this.#soon = new KeyLookUps(pool, 0);
    this.#later = new KeyLookUps(pool, gatheringMs);
  }

  /**
   * The key with this hash; null where it does not exist or was revoked. Concurrent requests share a look-up. Throws
   * `access_unavailable`.
   *
   * @param isPatient a key that the process does not know as valid may wait for others
   */
  find(hash: Buffer, isPatient = false): Promise<KeyFacts | null> {
    const name = hash.toString('hex');
    const known = this.#good.get(name);
    const entry = known ?? this.#others.get(name);
    if (entry !== undefined && this.#now() < entry.until) return entry.found;
    const lookUps = isPatient && known === undefined ? this.#later : this.#soon;
    const found = lookUps.find(hash);
    const added: Entry = { found, until: this.#now() + keyMemoryMs };
    (known === undefined ? this.#others : this.#good).set(name, added);
    found.then(
      (key) => this.#keep(name, added, key !== null),
      () => this.#forget(name, added),
    );
    return found;
  }

  #keep(name: string, entry: Entry, isGood: boolean): void {
    this.#forget(name, entry);
    (isGood ? this.#good : this.#others).set(name, entry);
  }

  #forget(name: string, entry: Entry): void {
    for (const entries of [this.#good, this.#others]) {
      if (entries.peek(name) === entry) entries.delete(name);
    }
  }
}
