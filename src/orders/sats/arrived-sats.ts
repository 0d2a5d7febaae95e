import { setTimeout as sleep } from 'node:timers/promises';
import { type BlockHashHex, displayHash, type TxidHex } from '#kernel/primitives/hash.ts';
import type { SatRange } from '#kernel/sats/sat-range.ts';
import type { WatchedPayment } from '#payments/payments.queries.ts';

/** The known facts about the sats of an unspent output. */
export type OutputSats = { readonly output: { readonly blockHash: BlockHashHex } } & (
  | { readonly state: 'known'; readonly ranges: readonly SatRange[] }
  | {
      readonly state: 'unknown';
      readonly reason: string;
      /** Whether the output moved to another block during the lookup. */
      readonly isReorganised: boolean;
    }
);

/** Looks up the sats of an output, which may take minutes. Returns null if the chain has no such unspent output. */
export type TraceSats = (outpoint: {
  readonly txid: TxidHex;
  readonly vout: number;
}) => Promise<OutputSats | null>;

export type PaidSats =
  | { readonly kind: 'known'; readonly ranges: readonly SatRange[] }
  /** The sats are being looked up. */
  | { readonly kind: 'pending' }
  | { readonly kind: 'unknown'; readonly reason: string };

/** How long to wait before a node is asked again, in ms, if it was away, busy, or just reorganised. */
const askAgainMs = 5_000;
/**
 * Maximum number of payments in memory. Only payments of paid orders are in memory. A payment has up to 50,000 ranges
 * (docs/satributes.md), but most payments have one.
 */
const paymentsMax = 200;

interface Search {
  readonly orderId: string;
  found: PaidSats;
}

const pending: PaidSats = { kind: 'pending' };

/**
 * Finds the sats of payments to orders, in their sequence in each output. The sats are looked up outside of database
 * transactions. A caller gets the known facts at once, and is notified of the result. Nothing is stored, because the
 * chain has this data.
 */
export class ArrivedSats {
  readonly #trace: TraceSats;
  readonly #againMs: number;
  /** Searches by outpoint and block, because after a reorganisation the same output may have other sats. */
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
      // ignored, because only `close` aborts the search
      () => undefined,
    );
    return pending;
  }

  /** Deletes unknown results of an order, so that the next call looks them up again. */
  askAgain(orderId: string): void {
    for (const [key, search] of this.#searches) {
      if (search.orderId === orderId && search.found.kind === 'unknown') this.#searches.delete(key);
    }
  }

  /** Orders that have a new result since the last call. */
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

  /** Looks up the sats of an output once. If the result is `pending`, the next call may return another result. */
  async #look(outpoint: Parameters<TraceSats>[0], blockHash: BlockHashHex): Promise<PaidSats> {
    // a node that does not answer gives no information about sats
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

  /** Deletes the oldest result if the memory is full. Until then results are kept, because they never change. */
  #forgetOldest(): void {
    if (this.#searches.size < paymentsMax) return;
    for (const [key, { found }] of this.#searches) {
      if (found.kind === 'pending') continue;
      this.#searches.delete(key);
      return;
    }
  }
}
