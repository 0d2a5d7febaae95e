import { createHash } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { Piscina } from 'piscina';
import type { GrindTask } from './grind.worker.ts';

/** Threads end after this time without work. */
const idleMs = 30_000;

type Search = { readonly of: string } & (
  | { readonly state: 'running' }
  | { readonly state: 'found'; readonly lockTimes: readonly number[] }
  | { readonly state: 'failed'; readonly error: unknown }
);

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
  readonly #searches = new Map<string, Search>();
  readonly #ended = new Set<string>();
  #onEnd: () => void = () => undefined;

  /**
   * One lock time for each transaction of an order, by its bytes without witness; null: they are being searched, and
   * `ended` has the order afterwards. Throws what the search threw, once; asking again searches again.
   */
  of(orderId: string, unsigned: readonly Uint8Array[], prefix: string): readonly number[] | null {
    const of = fingerprint(unsigned, prefix);
    const known = this.#searches.get(orderId);
    if (known?.of !== of) {
      this.#begin(orderId, { of, unsigned, prefix });
      return null;
    }
    if (known.state === 'running') return null;
    if (known.state === 'found') return known.lockTimes;
    this.#searches.delete(orderId);
    throw known.error;
  }

  /** Orders whose search has ended since this was asked for the last time. */
  ended(): readonly string[] {
    const ids = [...this.#ended];
    this.#ended.clear();
    return ids;
  }

  /** Forgets what was found for an order, unless there is something since `ended` told of it. */
  forget(orderId: string): void {
    const isWanted = this.#ended.has(orderId) || this.#searches.get(orderId)?.state === 'running';
    if (!isWanted) this.#searches.delete(orderId);
  }

  /** Called when a search has ended. */
  onEnd(listener: () => void): void {
    this.#onEnd = listener;
  }

  close(): Promise<void> {
    return this.#workers.destroy();
  }

  /** The payments of an order may change while it is searched for: only the last search counts. */
  #begin(
    orderId: string,
    { of, unsigned, prefix }: { of: string; unsigned: readonly Uint8Array[]; prefix: string },
  ): void {
    this.#searches.set(orderId, { of, state: 'running' });
    const end = (search: Search): void => {
      if (this.#searches.get(orderId)?.of !== of) return;
      this.#searches.set(orderId, search);
      this.#ended.add(orderId);
      this.#onEnd();
    };
    Promise.all(unsigned.map((bytes) => this.#workers.run({ unsigned: bytes, prefix }))).then(
      (lockTimes) => end({ of, state: 'found', lockTimes }),
      (error: unknown) => end({ of, state: 'failed', error }),
    );
  }
}

function fingerprint(unsigned: readonly Uint8Array[], prefix: string): string {
  const hash = createHash('sha256').update(prefix);
  for (const bytes of unsigned) hash.update(bytes);
  return hash.digest('hex');
}
