import { LRUCache } from 'lru-cache';

const dayMs = 86_400_000;
/** Clients that are remembered, 200 bytes each: beyond them, who stored something longest ago is forgotten. */
const clientsMax = 20_000;
/** Rows of a file, its block on disk and its part of an answer that is kept: a file of one byte has them too. */
const besideFile = 4_096;

/**
 * What each client stores with orders that nobody has paid for yet: as many bytes at once as it may have in a day, and
 * what a day allows from then on. Of this process: several allow as much each.
 */
export class StoredBytes {
  readonly #each: number;
  readonly #levels = new LRUCache<string, { readonly bytes: number; readonly atMs: number }>({
    max: clientsMax,
  });

  /** @param each bytes a day of a client; null: no bound */
  constructor(each: number | null) {
    this.#each = each ?? Number.POSITIVE_INFINITY;
  }

  /** Counts files of a client, if there is room for them: 0. Else the milliseconds until there is. */
  take(client: string, files: readonly number[], nowMs = performance.now()): number {
    if (this.#each === Number.POSITIVE_INFINITY) return 0;
    const bytes = files.reduce((sum, length) => sum + length + besideFile, 0);
    const known = this.#levels.get(client);
    const gone = known === undefined ? 0 : ((nowMs - known.atMs) * this.#each) / dayMs;
    const level = Math.max(0, (known?.bytes ?? 0) - gone) + bytes;
    if (level > this.#each) return ((level - this.#each) * dayMs) / this.#each;
    this.#levels.set(client, { bytes: level, atMs: nowMs });
    return 0;
  }
}
