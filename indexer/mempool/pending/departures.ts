import type { Departure } from '#indexer/mempool/store/pending.store.ts';
import { type HashKey, hashKey, hashOfKey } from '#indexer/mempool/stream/membership.ts';
import type { BlockRef } from '#kernel/contracts/block-source.ts';
import type { Payment, PaymentEvent } from '#kernel/contracts/watched-scripts.ts';
import type { InputIndex } from './input-index.ts';
import type { KeptTransaction } from './kept-transactions.ts';
import type { TransactionOutput } from './transaction-batch.ts';
import type { ScriptWatch } from './watched-scripts.ts';

/**
 * A node tells what it removes before what it was removed for, and the bytes of that may have to be asked for: so long it
 * is waited for. Nothing but the word for it hangs on this: rows go at once.
 */
const graceMs = 3000;

interface Leaving {
  readonly transaction: KeptTransaction;
  readonly since: number;
  /** Its block was taken back and the node may add it again: its rows stay until that is clear. */
  readonly isDisconnected: boolean;
}

/** Why kept transactions left: replaced, evicted or mined; and what watched payments are told of it. */
export class Departures {
  private readonly watch: ScriptWatch;
  private readonly leaving = new Map<HashKey, Leaving>();
  /** What took inputs of a transaction, and when. */
  private readonly replacedBy = new Map<HashKey, { readonly by: HashKey; readonly at: number }>();
  /** Transactions that left, whose inputs say for a while what replaced them. */
  private readonly inputsUntil = new Map<HashKey, number>();
  /** Transactions whose payments were told to be seen. */
  private readonly told = new Set<HashKey>();
  private reported: Omit<Departure, 'position'>[] = [];

  constructor(watch: ScriptWatch) {
    this.watch = watch;
  }

  seen(transaction: KeptTransaction): void {
    if (transaction.payments.length === 0 || this.told.has(transaction.txid)) return;
    this.told.add(transaction.txid);
    this.tell(transaction, (payment) => ({ kind: 'payment-seen', payment }));
  }

  confirmed(transaction: KeptTransaction, block: BlockRef): void {
    this.leaving.delete(transaction.txid);
    if (!this.told.delete(transaction.txid)) return;
    this.tell(transaction, (payment) => ({ kind: 'payment-confirmed', payment, block }));
  }

  /** The node removed it. */
  removed(transaction: KeptTransaction): void {
    this.leaving.set(transaction.txid, { transaction, since: Date.now(), isDisconnected: false });
  }

  /** Its block was taken back, and it is not in the mempool yet. */
  await(transaction: KeptTransaction): void {
    this.leaving.set(transaction.txid, { transaction, since: Date.now(), isDisconnected: true });
  }

  /** It is in the mempool again. */
  forget(txid: HashKey): void {
    this.leaving.delete(txid);
    this.inputsUntil.delete(txid);
  }

  replaced(old: HashKey, by: HashKey): void {
    this.replacedBy.set(old, { by, at: Date.now() });
  }

  /** Keeps the inputs of a transaction that left, for what takes them over. */
  keepInputs(txid: HashKey): void {
    this.inputsUntil.set(txid, Date.now() + graceMs);
  }

  /** Says of what left why it did, where that is known or has been waited for long enough. */
  settle(inputs: InputIndex, drop: (txid: HashKey) => void): void {
    const now = Date.now();
    for (const [txid, { transaction, since, isDisconnected }] of this.leaving) {
      const by = this.replacerOf(transaction);
      if (by === null && now - since < graceMs) continue;
      this.leaving.delete(txid);
      if (isDisconnected) drop(txid);
      this.report(transaction, by, now);
    }
    for (const [txid, until] of this.inputsUntil) {
      if (until > now) break;
      this.inputsUntil.delete(txid);
      inputs.delete(txid);
    }
    for (const [txid, { at }] of this.replacedBy) {
      if (now - at < 2 * graceMs) break;
      this.replacedBy.delete(txid);
    }
  }

  /** What is to be written since the last call. */
  takeReported(nextPosition: () => number): Departure[] {
    const { reported } = this;
    this.reported = [];
    return reported.map((departure) => ({ ...departure, position: nextPosition() }));
  }

  /** What took an input of it, or of a transaction that it spends. */
  private replacerOf({ txid, outpoints }: KeptTransaction): HashKey | null {
    const direct = this.replacedBy.get(txid);
    if (direct !== undefined) return direct.by;
    for (let at = 0; at < outpoints.length; at += 36) {
      const parent = this.replacedBy.get(hashKey(outpoints.subarray(at, at + 32)));
      if (parent !== undefined) {
        // for what spends this one in turn
        this.replaced(txid, parent.by);
        return parent.by;
      }
    }
    return null;
  }

  private report(transaction: KeptTransaction, by: HashKey | null, leftAt: number): void {
    const { txid } = transaction;
    this.reported.push({ txid, reason: by === null ? 'evicted' : 'replaced', replacedBy: by, leftAt });
    if (!this.told.delete(txid)) return;
    this.tell(transaction, (payment) =>
      by === null
        ? { kind: 'payment-evicted', payment }
        : { kind: 'payment-replaced', payment, replacedBy: hashOfKey(by) },
    );
  }

  private tell({ txid, payments }: KeptTransaction, event: (payment: Payment) => PaymentEvent): void {
    for (const output of payments) this.watch.tell(event(paymentOf(txid, output)));
  }
}

const paymentOf = (txid: HashKey, { script, vout, value }: TransactionOutput): Payment => ({
  script,
  txid: hashOfKey(txid),
  vout,
  value: BigInt(value),
});
