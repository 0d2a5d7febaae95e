import { type HashKey, hashKey } from '#indexer/mempool/stream/membership.ts';

/** A transaction and the outpoints that it spends, 36 bytes each. */
export interface Spends {
  readonly spender: HashKey;
  readonly outpoints: Uint8Array;
}

/** A transaction with payments that is not in a block. It is in the mempool, or gone. */
export interface Unconfirmed {
  readonly txid: HashKey;
  /** The outpoints that the transaction and its unconfirmed ancestors spend. */
  readonly spends: readonly Spends[];
  isGone: boolean;
}

const outpointLength = 36;

/**
 * Transactions with payments that are not in a block, indexed by the outpoints on which the payments depend. If another
 * transaction spends such an outpoint, it replaces the payments.
 */
export class UnconfirmedPayments {
  readonly #byTxid = new Map<HashKey, Unconfirmed>();
  /**
   * Payments by outpoint. Each payment is paired with the only transaction that may spend the outpoint without
   * replacing the payment.
   */
  readonly #spenders = new Map<string, Map<HashKey, HashKey>>();
  /** The first four bytes of each outpoint. These bytes alone rule out most inputs of a block. */
  readonly #beginnings = new Set<number>();

  get size(): number {
    return this.#byTxid.size;
  }

  get(txid: HashKey): Unconfirmed | null {
    return this.#byTxid.get(txid) ?? null;
  }

  all(): Iterable<Unconfirmed> {
    return this.#byTxid.values();
  }

  add(payment: Unconfirmed): void {
    this.delete(payment.txid);
    this.#byTxid.set(payment.txid, payment);
    for (const { spender, outpoints } of payment.spends) {
      const view = viewOf(outpoints);
      for (let at = 0; at < outpoints.length; at += outpointLength) {
        const key = hashKey(outpoints.subarray(at, at + outpointLength));
        const there = this.#spenders.get(key);
        if (there === undefined) this.#spenders.set(key, new Map([[payment.txid, spender]]));
        else there.set(payment.txid, spender);
        this.#beginnings.add(beginningAt(view, at));
      }
    }
  }

  delete(txid: HashKey): void {
    const payment = this.#byTxid.get(txid);
    if (payment === undefined) return;
    this.#byTxid.delete(txid);
    for (const { outpoints } of payment.spends) {
      for (let at = 0; at < outpoints.length; at += outpointLength) {
        const key = hashKey(outpoints.subarray(at, at + outpointLength));
        const there = this.#spenders.get(key);
        there?.delete(txid);
        if (there?.size === 0) this.#spenders.delete(key);
      }
    }
    // prefixes stay until all payments are removed, because an unused prefix costs only a look-up in the map
    if (this.#byTxid.size === 0) this.#beginnings.clear();
  }

  clear(): void {
    this.#byTxid.clear();
    this.#spenders.clear();
    this.#beginnings.clear();
  }

  /**
   * Payments that depend on the outpoint at `at`. Each payment is paired with the only transaction that may spend the
   * outpoint without replacing the payment.
   */
  spendersOf(view: DataView, at: number): ReadonlyMap<HashKey, HashKey> | null {
    if (!this.#beginnings.has(beginningAt(view, at))) return null;
    const outpoint = new Uint8Array(view.buffer, view.byteOffset + at, outpointLength);
    return this.#spenders.get(hashKey(outpoint)) ?? null;
  }
}

const viewOf = (bytes: Uint8Array): DataView =>
  new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);

const beginningAt = (view: DataView, at: number): number => view.getUint32(at, true);
