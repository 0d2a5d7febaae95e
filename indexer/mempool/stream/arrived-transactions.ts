import { type HashKey, hashKey } from './membership.ts';
import { txidOfBytes } from './transaction-batch.ts';

/**
 * Bytes of transactions that the node sent (`rawtx`), by txid. The node sends a new transaction directly before its
 * change. It also sends all transactions of a block before it tells about the block, although no one asks for these. So
 * a transaction is hashed when a change names it, and a block makes the others unnecessary. Thousands of hashes for each
 * block took the main thread's time while the block was applied, and 64 MB of old blocks stayed in memory.
 *
 * Bytes that are forgotten too early can be requested from the node.
 */
export class ArrivedTransactions {
  readonly #bytesMax: number;
  /** Transactions that a change has named since the last block. */
  #named = new Map<HashKey, Uint8Array>();
  /** Transactions that a change had named before the last block. */
  #namedBefore = new Map<HashKey, Uint8Array>();
  /** Transactions without a name that were hashed in the search for another one. */
  readonly #unnamed = new Map<HashKey, Uint8Array>();
  /** Transactions that were not hashed yet, oldest first. */
  #unhashed: Uint8Array[] = [];
  #size = 0;

  /** @param bytesMax maximum number of bytes of all transactions */
  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** Number of bytes of all transactions. */
  get size(): number {
    return this.#size;
  }

  /** Adds a transaction. Above the maximum, transactions without a name are forgotten, and then the oldest ones. */
  add(bytes: Uint8Array): void {
    this.#unhashed.push(bytes);
    this.#size += bytes.length;
    if (this.#size <= this.#bytesMax) return;
    this.#forgetUnnamed();
    for (const named of [this.#namedBefore, this.#named]) {
      for (const oldest of named.keys()) {
        if (this.#size <= this.#bytesMax) return;
        this.#remove(named, oldest);
      }
    }
  }

  /** Keeps a transaction because a change has named it. It is usually the newest one. */
  name(txid: HashKey): void {
    if (this.#named.has(txid)) return;
    const bytes = this.take(txid);
    if (bytes === null) return;
    this.#named.set(txid, bytes);
    this.#size += bytes.length;
  }

  /** Removes a transaction and returns its bytes. Null if it has not arrived. */
  take(txid: HashKey): Uint8Array | null {
    const known = this.#takeHashed(txid);
    if (known !== null) return known;
    // the transaction follows its change if the node sends both from different addresses
    this.#hashUntil(txid);
    return this.#remove(this.#unnamed, txid);
  }

  /**
   * Forgets transactions that no change has named, because they are those of a new block. Those that were named before
   * the last block and not taken since are forgotten, too.
   */
  blockConnected(): void {
    this.#forgetUnnamed();
    for (const { length } of this.#namedBefore.values()) this.#size -= length;
    this.#namedBefore = this.#named;
    this.#named = new Map();
  }

  #takeHashed(txid: HashKey): Uint8Array | null {
    for (const from of [this.#named, this.#namedBefore, this.#unnamed]) {
      const bytes = this.#remove(from, txid);
      if (bytes !== null) return bytes;
    }
    return null;
  }

  /** Hashes transactions, the newest first, until one has the given txid. */
  #hashUntil(txid: HashKey): void {
    for (let bytes = this.#unhashed.pop(); bytes !== undefined; bytes = this.#unhashed.pop()) {
      const hash = txidOfBytes(bytes);
      const key = hash === null ? null : hashKey(hash);
      const isKept =
        key !== null && ![this.#named, this.#namedBefore, this.#unnamed].some((of) => of.has(key));
      if (isKept) this.#unnamed.set(key, bytes);
      else this.#size -= bytes.length;
      if (key === txid) return;
    }
  }

  #forgetUnnamed(): void {
    for (const { length } of this.#unnamed.values()) this.#size -= length;
    for (const { length } of this.#unhashed) this.#size -= length;
    this.#unnamed.clear();
    this.#unhashed = [];
  }

  #remove(from: Map<HashKey, Uint8Array>, txid: HashKey): Uint8Array | null {
    const bytes = from.get(txid);
    if (bytes === undefined) return null;
    from.delete(txid);
    this.#size -= bytes.length;
    return bytes;
  }
}
