import { type HashKey, hashKey } from '#indexer/mempool/stream/membership.ts';
import type { Txid } from '#kernel/primitives/hash.ts';

/**
 * Keys of the runes of pending etchings. They are negative numbers, because pending runes have no key yet. They last as
 * long as a session and take some 200 bytes per etching; a busy day has some thousands of etchings.
 */
export class EtchingKeys {
  readonly #keys = new Map<HashKey, number>();
  readonly #etchings: Txid[] = [];

  /** The key of an etching, the same for the whole session. */
  readonly keyOf = (etching: Txid): number => {
    const name = hashKey(etching);
    const known = this.#keys.get(name);
    if (known !== undefined) return known;
    const key = -this.#etchings.push(etching);
    this.#keys.set(name, key);
    return key;
  };

  /** The etching of a key. Null: the key belongs to an indexed rune. */
  readonly etchingOf = (key: number): Txid | null => (key < 0 ? (this.#etchings[-key - 1] ?? null) : null);
}
