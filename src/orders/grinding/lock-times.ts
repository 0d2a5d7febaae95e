import { createHash } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { Piscina } from 'piscina';
import type { GrindTask } from './grind.worker.ts';

/** Threads end after this time without work. */
const idleMs = 30_000;

type Search =
  | { readonly state: 'running' }
  | { readonly state: 'found'; readonly lockTime: number }
  | { readonly state: 'failed'; readonly error: unknown };

/**
 * Lock times that give the transactions of orders the prefixes of their txids. They are searched in threads of their own:
 * whoever asks gets an answer at once, and is told when there is a better one. Nothing of it is stored, as a search
 * always finds the same.
 */
export class LockTimes {
  readonly #workers = new Piscina<GrindTask, number>({
    filename: new URL('./grind.worker.ts', import.meta.url).href,
    minThreads: 0,
    maxThreads: availableParallelism(),
    idleTimeout: idleMs,
  });
  /** By order, then by what is searched for. */
  readonly #searches = new Map<string, Map<string, Search>>();
  readonly #ended = new Set<string>();
  #onEnd: () => void = () => undefined;

  /**
   * One lock time for each transaction of an order, by its bytes without witness; null: they are being searched, and
   * `ended` has the order afterwards. What was found before is not searched again, so the list may grow from one call to
   * the next. Throws what a search threw, once; asking again searches again.
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

  /** Orders whose searches have ended since this was asked for the last time. */
  ended(): readonly string[] {
    const ids = [...this.#ended];
    this.#ended.clear();
    return ids;
  }

  /** Forgets what was found for an order, unless there is something since `ended` told of it. */
  forget(orderId: string): void {
    if (!this.#ended.has(orderId) && !this.#isRunning(orderId)) this.#searches.delete(orderId);
  }

  /** Called when the searches of an order have ended. */
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

  /** The order is told of once all of its searches have ended. */
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
