import type { HashKey } from '#indexer/mempool/stream/membership.ts';
import type { MempoolEntry } from '#indexer/mempool/stream/node-mempool.ts';
import type { BlockRef } from '#kernel/contracts/block-source.ts';
import type { ShortFingerprint } from './outpoint-fingerprints.ts';
import type { HeldOutput } from './pending-transaction.ts';

/** A pending transaction that matters: what stays in memory of it. Its rows are in the database alone. */
export interface KeptTransaction {
  readonly txid: HashKey;
  readonly position: number;
  readonly vsize: number;
  /** 36 bytes an input. */
  readonly outpoints: Uint8Array;
  /** Outputs that hold inscriptions, with their fingerprints. */
  readonly made: readonly { readonly output: HeldOutput; readonly fingerprint: ShortFingerprint }[];
  /** Of its rows. */
  readonly sizeBytes: number;
  readonly replaces: readonly HashKey[];
  entry: MempoolEntry | null;
  /** The block that it was mined in, as the node last said. */
  block: BlockRef | null;
}

/** Fixed part of the room that a kept transaction takes, in bytes: its rows without contents, and its place in memory. */
const overheadBytes = 512;

/** How much is made room for at once: sorting for one transaction each time would be quadratic. */
const roomShare = 0.9;

/** The kept transactions, within bounds of their number and bytes. */
export class KeptTransactions {
  readonly #byTxid = new Map<HashKey, KeptTransaction>();
  readonly #madeBy = new Map<ShortFingerprint, HeldOutput[]>();
  readonly #countMax: number;
  readonly #bytesMax: number;
  #bytes = 0;

  constructor(countMax: number, bytesMax: number) {
    this.#countMax = countMax;
    this.#bytesMax = bytesMax;
  }

  get size(): number {
    return this.#byTxid.size;
  }

  get sizeBytes(): number {
    return this.#bytes;
  }

  /** There is so much room that what was left out may come back. */
  get isHalfEmpty(): boolean {
    return this.size * 2 < this.#countMax && this.#bytes * 2 < this.#bytesMax;
  }

  get(txid: HashKey): KeptTransaction | null {
    return this.#byTxid.get(txid) ?? null;
  }

  all(): Iterable<KeptTransaction> {
    return this.#byTxid.values();
  }

  /** The output with this outpoint (36 bytes) that a kept transaction made and that holds inscriptions. */
  held(fingerprint: ShortFingerprint, outpoint: Uint8Array): HeldOutput | null {
    const outputs = this.#madeBy.get(fingerprint);
    return outputs?.find((output) => Buffer.compare(output.outpoint, outpoint) === 0) ?? null;
  }

  add(transaction: KeptTransaction): void {
    this.delete(transaction.txid);
    this.#byTxid.set(transaction.txid, transaction);
    this.#bytes += transaction.sizeBytes + overheadBytes;
    for (const { output, fingerprint } of transaction.made) {
      const there = this.#madeBy.get(fingerprint);
      if (there === undefined) this.#madeBy.set(fingerprint, [output]);
      else there.push(output);
    }
  }

  delete(txid: HashKey): void {
    const transaction = this.#byTxid.get(txid);
    if (transaction === undefined) return;
    this.#byTxid.delete(txid);
    this.#bytes -= transaction.sizeBytes + overheadBytes;
    for (const { output, fingerprint } of transaction.made) {
      const left = this.#madeBy.get(fingerprint)?.filter((other) => other !== output) ?? [];
      if (left.length === 0) this.#madeBy.delete(fingerprint);
      else this.#madeBy.set(fingerprint, left);
    }
  }

  /**
   * Makes room where the bounds are passed, and gives what went: the lowest fee rates first, as the node itself does, those
   * without a known one before all, the newest first among equals.
   */
  makeRoom(): KeptTransaction[] {
    if (this.size <= this.#countMax && this.#bytes <= this.#bytesMax) return [];
    const gone: KeptTransaction[] = [];
    const ordered = [...this.#byTxid.values()].toSorted(
      (a, b) => feeRate(a) - feeRate(b) || b.position - a.position,
    );
    for (const transaction of ordered) {
      if (this.size <= this.#countMax * roomShare && this.#bytes <= this.#bytesMax * roomShare) break;
      this.delete(transaction.txid);
      gone.push(transaction);
    }
    return gone;
  }
}

/** Sats a vbyte; -1 where it is not known. */
function feeRate({ entry, vsize }: KeptTransaction): number {
  return entry === null ? -1 : entry.fee / vsize;
}
