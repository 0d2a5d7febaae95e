import { setTimeout as sleep } from 'node:timers/promises';
import { type BlockHashHex, displayHash, type TxidHex } from '#kernel/primitives/hash.ts';
import type { SatRange } from '#kernel/sats/sat-range.ts';
import type { WatchedPayment } from '#payments/payments.queries.ts';

/** What is known of the sats of an unspent output. */
export type OutputSats = { readonly output: { readonly blockHash: BlockHashHex } } & (
  | { readonly state: 'known'; readonly ranges: readonly SatRange[] }
  | {
      readonly state: 'unknown';
      readonly reason: string;
      /** It was in another block when it was looked up. */
      readonly isReorganised: boolean;
    }
);

/** Looks the sats of an output up, which may take minutes. Null: the chain has no such unspent output. */
export type TraceSats = (outpoint: {
  readonly txid: TxidHex;
  readonly vout: number;
}) => Promise<OutputSats | null>;

export type PaidSats =
  | { readonly kind: 'known'; readonly ranges: readonly SatRange[] }
  /** They are being looked up. */
  | { readonly kind: 'pending' }
  | { readonly kind: 'unknown'; readonly reason: string };

/** A node that is away, or busy, or has just been reorganised, is asked again after this time. */
const askAgainMs = 5_000;
/** Payments in memory, each with up to 50,000 ranges (docs/satributes.md) and most with one: those of paid orders alone. */
const paymentsMax = 200;

interface Search {
  readonly orderId: string;
  found: PaidSats;
}

const pending: PaidSats = { kind: 'pending' };

/**
 * The sats of payments to orders, in the order of each output. They are looked up outside of the database's transactions:
 * whoever asks gets an answer at once, and is told when there is a better one. Nothing of it is stored: the chain has it.
 */
export class ArrivedSats {
  readonly #trace: TraceSats;
  readonly #againMs: number;
  /** By outpoint and block: after a reorganisation the same output may have other sats. */
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
      // only by `close`
      () => undefined,
    );
    return pending;
  }

  /** Forgets what was found to be unknown of an order: asking again looks it up again. */
  askAgain(orderId: string): void {
    for (const [key, search] of this.#searches) {
      if (search.orderId === orderId && search.found.kind === 'unknown') this.#searches.delete(key);
    }
  }

  /** Orders for which something was found since this was asked for the last time. */
  ended(): readonly string[] {
    const ids = [...this.#ended];
    this.#ended.clear();
    return ids;
  }

  /** Called when something was found. */
  onEnd(listener: () => void): void {
    this.#onEnd = listener;
  }

  close(): void {
    this.#stop.abort();
  }

  /** Pending: asked again, the answer may be another one. */
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

  /** What was found stays until others need its place, as it does not change. */
  #forgetOldest(): void {
    if (this.#searches.size < paymentsMax) return;
    for (const [key, { found }] of this.#searches) {
      if (found.kind === 'pending') continue;
      this.#searches.delete(key);
      return;
    }
  }
}
