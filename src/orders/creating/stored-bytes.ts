import { LRUCache } from 'lru-cache';
import { besideFile } from '#orders/files/file-bounds.ts';
import { storedTerms } from '#orders/order/stored-terms.ts';
import type { WantedOrder } from './create-order.ts';

const dayMs = 86_400_000;
/** Clients that are remembered, 200 bytes each: beyond them, the one that stored last longest ago is forgotten. */
const clientsMax = 20_000;
/** Bytes of an order's row, events, messages, keys and watch. */
const besideOrder = 4_096;
/** Bytes of a deposit's row, key and watch. */
const besideParent = 1_024;

/**
 * Bytes that an order adds to the disk and the database: contents of files, leaves (which repeat contents, metadata and
 * fields), and the fields that its row and its files show. The answer kept for an `Idempotency-Key` counts too.
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
  // rows have the shown fields, and so does the answer that is kept for a key
  return contents + leaves + 2 * shown + jsonBytes(storedTerms(terms)) + fixed;
}

const jsonBytes = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

const sumOf = <Item>(items: readonly Item[], bytesOf: (item: Item) => number): number =>
  items.reduce((sum, item) => sum + bytesOf(item), 0);

/**
 * Counts the bytes that each client stores with unpaid orders, or each key with uploads. A full day's bytes may be
 * stored at once; room comes back steadily over a day. Each process counts by itself, so several processes allow as
 * much each.
 */
export class StoredBytes {
  readonly #each: number;
  readonly #levels = new LRUCache<string, { readonly bytes: number; readonly atMs: number }>({
    max: clientsMax,
  });

  /** @param each bytes that a client may store in a day; null: no bound */
  constructor(each: number | null) {
    this.#each = each ?? Number.POSITIVE_INFINITY;
  }

  /** Whether there is a bound. */
  get isBounded(): boolean {
    return this.#each !== Number.POSITIVE_INFINITY;
  }

  /** Counts bytes of a client if there is room, and returns 0; else the milliseconds until there is room. */
  take(client: string, bytes: number, nowMs = performance.now()): number {
    if (!this.isBounded) return 0;
    const known = this.#levels.get(client);
    const gone = known === undefined ? 0 : ((nowMs - known.atMs) * this.#each) / dayMs;
    const level = Math.max(0, (known?.bytes ?? 0) - gone) + bytes;
    if (level > this.#each) return ((level - this.#each) * dayMs) / this.#each;
    this.#levels.set(client, { bytes: level, atMs: nowMs });
    return 0;
  }
  /** Takes back counted bytes that were not stored. */
  giveBack(client: string, bytes: number): void {
    const known = this.#levels.get(client);
    if (known !== undefined) this.#levels.set(client, { ...known, bytes: Math.max(0, known.bytes - bytes) });
  }
}
