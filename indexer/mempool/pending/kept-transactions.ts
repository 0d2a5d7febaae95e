import type { HashKey } from '#indexer/mempool/stream/membership.ts';
import type { MempoolEntry } from '#indexer/mempool/stream/node-mempool.ts';
import type { BlockRef } from '#kernel/contracts/block-source.ts';
import type { ShortFingerprint } from './outpoint-fingerprints.ts';
import type { MadeHolding, PendingRunes, RunicHolding } from './pending-runes.ts';
import type { HeldOutput } from './pending-transaction.ts';

/** The in-memory part of a pending transaction that matters. Its other fields are only in the database. */
export interface KeptTransaction {
  readonly txid: HashKey;
  readonly position: number;
  readonly vsize: number;
  /** Outpoints of its inputs, 36 bytes each. */
  readonly outpoints: Uint8Array;
  /** Outputs that hold inscriptions, with their fingerprints. */
  readonly made: readonly { readonly output: HeldOutput; readonly fingerprint: ShortFingerprint }[];
  /** Runes of the transaction. Null: it involves no runes, or runes are unknown. */
  readonly runes: Pick<PendingRunes, 'etching' | 'mint' | 'made'> | null;
  /** Size of its rows in bytes. */
  readonly sizeBytes: number;
  readonly replaces: readonly HashKey[];
  entry: MempoolEntry | null;
  /** The block that mined it, by the node's last message. Null: it is not mined. */
  block: BlockRef | null;
}

/** Fixed part of the size of a kept transaction, in bytes: its rows without contents, and its memory. */
const overheadBytes = 512;

/**
 * Maximum share of the limits that is still used after an eviction. Without free room, each new transaction would need
 * another sort, which would be quadratic.
 */
const roomShare = 0.9;

/** The kept transactions. Their number and their bytes are limited. */
export class KeptTransactions {
  readonly #byTxid = new Map<HashKey, KeptTransaction>();
  readonly #madeBy = new Map<ShortFingerprint, HeldOutput[]>();
  readonly #runicBy = new Map<ShortFingerprint, MadeHolding[]>();
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

  /** True if there is enough room to add dropped transactions again. */
  get isHalfEmpty(): boolean {
    return this.size * 2 < this.#countMax && this.#bytes * 2 < this.#bytesMax;
  }

  get(txid: HashKey): KeptTransaction | null {
    return this.#byTxid.get(txid) ?? null;
  }

  all(): Iterable<KeptTransaction> {
    return this.#byTxid.values();
  }

  /** The output with this outpoint (36 bytes), if a kept transaction made it and it holds inscriptions. */
  held(fingerprint: ShortFingerprint, outpoint: Uint8Array): HeldOutput | null {
    return outputAt(this.#madeBy.get(fingerprint), outpoint);
  }

  /** The runes in the output with this outpoint, if a kept transaction made it. */
  heldRunes(fingerprint: ShortFingerprint, outpoint: Uint8Array): RunicHolding | null {
    return outputAt(this.#runicBy.get(fingerprint), outpoint);
  }

  add(transaction: KeptTransaction): void {
    this.delete(transaction.txid);
    this.#byTxid.set(transaction.txid, transaction);
    this.#bytes += transaction.sizeBytes + overheadBytes;
    for (const { output, fingerprint } of transaction.made) enter(this.#madeBy, fingerprint, output);
    for (const made of transaction.runes?.made ?? []) enter(this.#runicBy, made.fingerprint, made);
  }

  delete(txid: HashKey): void {
    const transaction = this.#byTxid.get(txid);
    if (transaction === undefined) return;
    this.#byTxid.delete(txid);
    this.#bytes -= transaction.sizeBytes + overheadBytes;
    for (const { output, fingerprint } of transaction.made) leave(this.#madeBy, fingerprint, output);
    for (const made of transaction.runes?.made ?? []) leave(this.#runicBy, made.fingerprint, made);
  }

  /**
   * Frees space if a limit is exceeded, and returns the dropped transactions. Transactions with unknown fee rates are
   * dropped first, then those with the lowest fee rates, as the node itself does. Among equal fee rates the newest is
   * dropped first.
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

function outputAt<Output extends { readonly outpoint: Uint8Array }>(
  outputs: readonly Output[] | undefined,
  outpoint: Uint8Array,
): Output | null {
  return outputs?.find((output) => Buffer.compare(output.outpoint, outpoint) === 0) ?? null;
}

function enter<Output>(
  by: Map<ShortFingerprint, Output[]>,
  fingerprint: ShortFingerprint,
  output: Output,
): void {
  const there = by.get(fingerprint);
  if (there === undefined) by.set(fingerprint, [output]);
  else there.push(output);
}

function leave<Output>(
  by: Map<ShortFingerprint, Output[]>,
  fingerprint: ShortFingerprint,
  output: Output,
): void {
  const left = by.get(fingerprint)?.filter((other) => other !== output) ?? [];
  if (left.length === 0) by.delete(fingerprint);
  else by.set(fingerprint, left);
}

/** Fee rate in sats per vbyte. -1: unknown. */
function feeRate({ entry, vsize }: KeptTransaction): number {
  return entry === null ? -1 : entry.fee / vsize;
}
