import { setTimeout as sleep } from 'node:timers/promises';
import { type BlockHashHex, displayHash, type TxidHex } from '#kernel/primitives/hash.ts';
import type { SatRange } from '#kernel/sats/sat-range.ts';
import type { WatchedPayment } from '#payments/payments.queries.ts';

/** Knowledge about the sats of an unspent output. */
export type OutputSats = { readonly output: { readonly blockHash: BlockHashHex } } & (
  | { readonly state: 'known'; readonly ranges: readonly SatRange[] }
  | {
      readonly state: 'unknown';
      readonly reason: string;
      /** It was in another block when it was looked up. */
      readonly isReorganised: boolean;
    }
);

/** Looks up the sats of an output, which may take minutes. Null: the chain has no such unspent output. */
export type TraceSats = (outpoint: {
  readonly txid: TxidHex;
  readonly vout: number;
}) => Promise<OutputSats | null>;

export type PaidSats =
  | { readonly kind: 'known'; readonly ranges: readonly SatRange[] }
  /** They are being looked up. */
  | { readonly kind: 'pending' }
  | { readonly kind: 'unknown'; readonly reason: string };

/** Pause before a node is asked again that is away, busy, or just reorganised. */
const askAgainMs = 5_000;
/**
 * Payments in memory, each with up to 50,000 ranges (docs/satributes.md) and most with one: only those of paid orders.
 */
const paymentsMax = 200;

interface Search {
  readonly orderId: string;
  found: PaidSats;
}

const pending: PaidSats = { kind: 'pending' };

/**
 * The sats of payments to orders, in the order of each output. They are looked up outside of database transactions: a
 * caller gets what is known at once, and is notified of the result. Nothing is stored, because the chain has it.
 */
export class ArrivedSats {
  readonly #trace: TraceSats;
  readonly #againMs: number;
  /** Keyed by outpoint and block: after a reorganisation the same output may have other sats. */
  readonly #searches = new Map<string, Search>();
  readonly #ended = new Set<string>();
  readonly #stop = new AbortController();
  #onEnd: () => void = () => undefined;

  constructor(trace: TraceSats, againMs = askAgainMs) {
    this.#trace = trace;
    this.#againMs = againMs;
  }

  of(orderId: string, { txid, vout, block }: WatchedPayment): PaidSats {
    if (block === null) return pending;
    const outpoint = { txid: displayHash(txid), vout };
    const blockHash = displayHash(block.hash);
    const key = `${outpoint.txid}:${vout} ${blockHash}`;
    const known = this.#searches.get(key);
    if (known !== undefined) return known.found;
    this.#forgetOldest();
    this.#searches.set(key, { orderId, found: pending });
    this.#look(outpoint, blockHash).then(
      (found) => this.#end(key, found),
      // only `close` aborts it
      () => undefined,
    );
    return pending;
  }

  /** Forgets unknown results of an order, so that the next call looks again. */
  askAgain(orderId: string): void {
    for (const [key, search] of this.#searches) {
      if (search.orderId === orderId && search.found.kind === 'unknown') this.#searches.delete(key);
    }
  }

  /** Orders with a result since the last call. */
  ended(): readonly string[] {
    const ids = [...this.#ended];
    this.#ended.clear();
    return ids;
  }

  /** Sets the listener for results. */
  onEnd(listener: () => void): void {
    this.#onEnd = listener;
  }

  close(): void {
    this.#stop.abort();
  }

  /** Pending: the next call may give another answer. */
  async #look(outpoint: Parameters<TraceSats>[0], blockHash: BlockHashHex): Promise<PaidSats> {
    // a node that does not answer says nothing about sats
    const sats = await this.#trace(outpoint).catch(() => null);
    const isMoved = sats?.state === 'unknown' && sats.isReorganised;
    if (sats === null || isMoved || sats.output.blockHash !== blockHash) {
      await sleep(this.#againMs, undefined, { signal: this.#stop.signal });
      return pending;
    }
    return sats.state === 'known'
      ? { kind: 'known', ranges: sats.ranges }
      : { kind: 'unknown', reason: sats.reason };
  }

  #end(key: string, found: PaidSats): void {
    const search = this.#searches.get(key);
    if (search === undefined || this.#stop.signal.aborted) return;
    search.found = found;
    if (found.kind === 'pending') this.#searches.delete(key);
    this.#ended.add(search.orderId);
    this.#onEnd();
  }

  /** Results never change, so they stay until others need their place. */
  #forgetOldest(): void {
    if (this.#searches.size < paymentsMax) return;
    for (const [key, { found }] of this.#searches) {
      if (found.kind === 'pending') continue;
      this.#searches.delete(key);
      return;
    }
  }
}
