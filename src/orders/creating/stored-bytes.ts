import { LRUCache } from 'lru-cache';
import { besideFile } from '#orders/files/file-bounds.ts';
import { storedTerms } from '#orders/order/stored-terms.ts';
import type { WantedOrder } from './create-order.ts';

const dayMs = 86_400_000;
/** Clients that are remembered, 200 bytes each: beyond them, who stored something longest ago is forgotten. */
const clientsMax = 20_000;
/** Row of an order, its events, messages, keys and watch. */
const besideOrder = 4_096;
/** Row of a deposit, its key and its watch. */
const besideParent = 1_024;

/**
 * Bytes that an order adds to the disk and the database: contents of files, leaves (which have contents, metadata and
 * fields again), and all that its row and its files show. What an `Idempotency-Key` keeps of the answer counts too.
 */
export function bytesOfOrder({
  files,
  terms,
  layout,
  request,
  webhookUrl,
}: Pick<WantedOrder, 'files' | 'terms' | 'layout' | 'request' | 'webhookUrl'>): number {
  const contents = sumOf(files, (file) =>
    file === null || file.stored !== undefined ? 0 : file.content.length,
  );
  const leaves = sumOf(layout.reveals, ({ leafBytes }) => leafBytes);
  const shown = sumOf(files, (file) => jsonBytes(file?.shown ?? null)) + jsonBytes({ request, webhookUrl });
  const fixed = besideOrder + files.length * besideFile + terms.parents.length * besideParent;
  // rows have what is shown, and so has the answer that is kept for a key
  return contents + leaves + 2 * shown + jsonBytes(storedTerms(terms)) + fixed;
}

const jsonBytes = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

const sumOf = <Item>(items: readonly Item[], bytesOf: (item: Item) => number): number =>
  items.reduce((sum, item) => sum + bytesOf(item), 0);

/**
 * Counts the bytes that each client stores with orders that are not paid for yet, or each key with uploads: as many
 * at once as a day allows, and from then on as time passes. Each process counts by itself: several allow as much
 * each.
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

  /** Whether there is a bound. */
  get isBounded(): boolean {
    return this.#each !== Number.POSITIVE_INFINITY;
  }

  /** Counts bytes of a client, if there is room for them: 0. Else the milliseconds until there is. */
  take(client: string, bytes: number, nowMs = performance.now()): number {
    if (!this.isBounded) return 0;
    const known = this.#levels.get(client);
    const gone = known === undefined ? 0 : ((nowMs - known.atMs) * this.#each) / dayMs;
    const level = Math.max(0, (known?.bytes ?? 0) - gone) + bytes;
    if (level > this.#each) return ((level - this.#each) * dayMs) / this.#each;
    this.#levels.set(client, { bytes: level, atMs: nowMs });
    return 0;
  }
  /** Bytes that were counted are not stored. */
  giveBack(client: string, bytes: number): void {
    const known = this.#levels.get(client);
    if (known !== undefined) this.#levels.set(client, { ...known, bytes: Math.max(0, known.bytes - bytes) });
  }
}
