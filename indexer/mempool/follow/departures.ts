import type { Departure } from '#indexer/mempool/store/pending.store.ts';
import { type HashKey, hashKey } from '#indexer/mempool/stream/membership.ts';
import type { InputIndex } from '../pending/input-index.ts';
import type { KeptTransaction } from '../pending/kept-transactions.ts';

/**
 * How long to wait for the cause of a removal, in ms. A node announces a removal before the transaction that caused it,
 * and the bytes of that transaction may have to be requested. Only the reason is delayed: rows are deleted at once.
 */
const graceMs = 3000;

interface Leaving {
  readonly transaction: KeptTransaction;
  readonly since: number;
  /** True if its block was taken back and the node may add it again. Its rows are kept until this is decided. */
  readonly isDisconnected: boolean;
}

/** Reasons why kept transactions left: replaced or evicted. */
export class Departures {
  readonly #leaving = new Map<HashKey, Leaving>();
  /** Keyed by transaction: the transaction that took its inputs, and the time. */
  readonly #replacedBy = new Map<HashKey, { readonly by: HashKey; readonly at: number }>();
  /** Transactions that left. For a while their inputs are kept, to identify the transaction that replaced them. */
  readonly #inputsUntil = new Map<HashKey, number>();
  #reported: Omit<Departure, 'position'>[] = [];

  /** Records that a transaction was mined. */
  confirmed(txid: HashKey): void {
    this.#leaving.delete(txid);
  }

  /** Records that the node removed a transaction. */
  removed(transaction: KeptTransaction): void {
    this.#leaving.set(transaction.txid, { transaction, since: Date.now(), isDisconnected: false });
  }

  /** Records that a transaction's block was taken back, and that it is not in the mempool yet. */
  await(transaction: KeptTransaction): void {
    this.#leaving.set(transaction.txid, { transaction, since: Date.now(), isDisconnected: true });
  }

  /** Records that a transaction is in the mempool again. */
  forget(txid: HashKey): void {
    this.#leaving.delete(txid);
    this.#inputsUntil.delete(txid);
  }

  replaced(old: HashKey, by: HashKey): void {
    this.#replacedBy.set(old, { by, at: Date.now() });
  }

  /** Keeps the inputs of a transaction that left, to recognise the transaction that takes these inputs. */
  keepInputs(txid: HashKey): void {
    this.#inputsUntil.set(txid, Date.now() + graceMs);
  }

  /** Decides why transactions left, once the reason is known or the waiting time is over. */
  settle(inputs: InputIndex, drop: (txid: HashKey) => void): void {
    const now = Date.now();
    for (const [txid, { transaction, since, isDisconnected }] of this.#leaving) {
      const by = this.#replacerOf(transaction);
      if (by === null && now - since < graceMs) continue;
      this.#leaving.delete(txid);
      if (isDisconnected) drop(txid);
      this.#report(transaction, by, now);
    }
    for (const [txid, until] of this.#inputsUntil) {
      if (until > now) break;
      this.#inputsUntil.delete(txid);
      inputs.delete(txid);
    }
    for (const [txid, { at }] of this.#replacedBy) {
      if (now - at < 2 * graceMs) break;
      this.#replacedBy.delete(txid);
    }
  }

  /** Returns the departures since the last call, which must then be written. */
  takeReported(nextPosition: () => number): Departure[] {
    const reported = this.#reported;
    this.#reported = [];
    return reported.map((departure) => ({ ...departure, position: nextPosition() }));
  }

  /** The transaction that took an input of this transaction, or an input of one of its parents. */
  #replacerOf({ txid, outpoints }: KeptTransaction): HashKey | null {
    const direct = this.#replacedBy.get(txid);
    if (direct !== undefined) return direct.by;
    for (let at = 0; at < outpoints.length; at += 36) {
      const parent = this.#replacedBy.get(hashKey(outpoints.subarray(at, at + 32)));
      if (parent !== undefined) {
        // record it, so that transactions that spend this one find it too
        this.replaced(txid, parent.by);
        return parent.by;
      }
    }
    return null;
  }

  #report(transaction: KeptTransaction, by: HashKey | null, leftAt: number): void {
    const { txid } = transaction;
    this.#reported.push({ txid, reason: by === null ? 'evicted' : 'replaced', replacedBy: by, leftAt });
  }
}
