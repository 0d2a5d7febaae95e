import { createHash } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { Piscina } from 'piscina';
import type { GrindTask } from './grind.worker.ts';

/** How long a thread without work is kept, in ms. */
const idleMs = 30_000;

type Search =
  | { readonly state: 'running' }
  | { readonly state: 'found'; readonly lockTime: number }
  | { readonly state: 'failed'; readonly error: unknown };

/**
 * Finds the lock times that give the txids of orders' transactions their prefixes. Separate threads search the lock
 * times. A caller gets known lock times at once, and is notified at the end of a search. Nothing is stored, because a
 * search always finds the same lock time.
 */
export class LockTimes {
  readonly #workers = new Piscina<GrindTask, number>({
    filename: new URL('./grind.worker.ts', import.meta.url).href,
    minThreads: 0,
    maxThreads: availableParallelism(),
    idleTimeout: idleMs,
  });
  /** Searches, by order id and then by the fingerprint of transaction and prefix. */
  readonly #searches = new Map<string, Map<string, Search>>();
  readonly #ended = new Set<string>();
  #onEnd: () => void = () => undefined;

  /**
   * One lock time for each transaction of an order. The transactions are given as bytes without witness. Returns null
   * while the lock times are being searched; `ended` lists the order afterwards. Known lock times are not searched
   * again, so a later call may give more transactions. Throws the error of a failed search once; the next call searches
   * again.
   */
  of(orderId: string, unsigned: readonly Uint8Array[], prefix: string): readonly number[] | null {
    const searches = this.#searchesOf(orderId);
    const wanted = unsigned.map((bytes) => ({ bytes, key: fingerprint(bytes, prefix) }));
    const failed = wanted.flatMap(({ key }) => failureOf(searches.get(key)));
    if (failed.length > 0) {
      for (const { key } of wanted) if (searches.get(key)?.state === 'failed') searches.delete(key);
      throw failed[0]?.error;
    }
    for (const { bytes, key } of wanted)
      if (!searches.has(key)) this.#begin(orderId, key, { unsigned: bytes, prefix });
    const found = wanted.flatMap(({ key }) => lockTimeOf(searches.get(key)));
    return found.length === wanted.length ? found : null;
  }

  /** Orders whose searches have ended since the last call. */
  ended(): readonly string[] {
    const ids = [...this.#ended];
    this.#ended.clear();
    return ids;
  }

  /**
   * Forgets the lock times of an order. Does nothing if a search is running, or has ended since the last call of
   * `ended`.
   */
  forget(orderId: string): void {
    if (!this.#ended.has(orderId) && !this.#isRunning(orderId)) this.#searches.delete(orderId);
  }

  /** Sets the listener that is called when all searches of an order have ended. */
  onEnd(listener: () => void): void {
    this.#onEnd = listener;
  }

  close(): Promise<void> {
    return this.#workers.destroy();
  }

  #searchesOf(orderId: string): Map<string, Search> {
    const known = this.#searches.get(orderId) ?? new Map<string, Search>();
    this.#searches.set(orderId, known);
    return known;
  }

  #isRunning(orderId: string): boolean {
    return [...this.#searchesOf(orderId).values()].some(({ state }) => state === 'running');
  }

  /** Begins a search. The listener is called once all searches of the order have ended. */
  #begin(orderId: string, key: string, task: GrindTask): void {
    const searches = this.#searchesOf(orderId);
    searches.set(key, { state: 'running' });
    const end = (search: Search): void => {
      searches.set(key, search);
      if (this.#isRunning(orderId)) return;
      this.#ended.add(orderId);
      this.#onEnd();
    };
    this.#workers.run(task).then(
      (lockTime) => end({ state: 'found', lockTime }),
      (error: unknown) => end({ state: 'failed', error }),
    );
  }
}

const failureOf = (search: Search | undefined) => (search?.state === 'failed' ? [search] : []);
const lockTimeOf = (search: Search | undefined): number[] =>
  search?.state === 'found' ? [search.lockTime] : [];

function fingerprint(unsigned: Uint8Array, prefix: string): string {
  return createHash('sha256').update(prefix).update(unsigned).digest('hex');
}
