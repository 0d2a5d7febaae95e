import { LRUCache } from 'lru-cache';
import type pg from 'pg';
import { type KeyFacts, KeyLookUps } from './key-look-ups.ts';

/**
 * How long a key is remembered before it is looked up again, in ms. A revoked key is refused everywhere after this time
 * at the latest.
 */
export const keyMemoryMs = 5000;
/**
 * Maximum number of remembered keys that were valid. A key needs 600 bytes, or 1,000 if it has terms of its own, so all
 * keys need at most 20 MB.
 */
const goodKeysMax = 20_000;
/**
 * Maximum number of remembered unknown keys. Clients send unknown keys again and again. They are kept separately, so
 * that made-up keys never displace valid keys.
 */
const otherKeysMax = 5_000;
/**
 * Time between two look-ups for IP addresses that send many unknown keys, in ms. These addresses cause at most ten
 * statements per second, whatever keys they try. A valid key that is new to the process waits this long once if it
 * comes from such an address.
 */
const gatheringMs = 100;

interface Entry {
  readonly found: Promise<KeyFacts | null>;
  readonly until: number;
}

/** Finds valid keys by their hash, and remembers them for some seconds. */
export class KeyDirectory {
  readonly #now: () => number;
  readonly #soon: KeyLookUps;
  readonly #later: KeyLookUps;
  /** Keys that were found by their last look-up, and keys that were not. */
  readonly #good = new LRUCache<string, Entry>({ max: goodKeysMax });
  readonly #others = new LRUCache<string, Entry>({ max: otherKeysMax });

  constructor(pool: pg.Pool, now: () => number = () => performance.now()) {
    this.#now = now;
    this.#soon = new KeyLookUps(pool, 0);
    this.#later = new KeyLookUps(pool, gatheringMs);
  }

  /**
   * Finds the key with this hash. Returns `null` if the key does not exist or was revoked. Concurrent requests for a
   * key share a look-up. Throws `access_unavailable`.
   *
   * @param isPatient whether a key that the process does not know as valid may wait, so that several keys share a
   *   look-up
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
