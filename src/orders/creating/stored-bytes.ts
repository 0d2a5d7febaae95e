import { LRUCache } from 'lru-cache';
import { besideFile } from '#orders/files/file-bounds.ts';
import { storedTerms } from '#orders/order/stored-terms.ts';
import type { WantedOrder } from './create-order.ts';

const dayMs = 86_400_000;
/**
 * Maximum number of clients that are remembered; each takes 200 bytes. If there are more, the least recently used
 * client is forgotten.
 */
const clientsMax = 20_000;
/** Estimated number of bytes of an order's row, events, messages, keys and watch. */
const besideOrder = 4_096;
/** Estimated number of bytes of a deposit's row, key and watch. */
const besideParent = 1_024;

/**
 * Estimated number of bytes that an order adds to the disk and the database. It includes contents of files, leaves
 * (which repeat contents, metadata and fields), and the fields that the order's row and files show. The answer that is
 * kept for an `Idempotency-Key` is included.
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
  // the shown fields are stored twice: in rows, and in the answer that is kept for a key
  return contents + leaves + 2 * shown + jsonBytes(storedTerms(terms)) + fixed;
}

const jsonBytes = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

const sumOf = <Item>(items: readonly Item[], bytesOf: (item: Item) => number): number =>
  items.reduce((sum, item) => sum + bytesOf(item), 0);

/**
 * Counts the bytes that each client stores with unpaid orders, or each key with uploads. A client may store the bytes
 * of a day at once; the count then falls steadily within a day. Each process counts separately, so each of several
 * processes allows the full amount.
 */
export class StoredBytes {
  readonly #each: number;
  readonly #levels = new LRUCache<string, { readonly bytes: number; readonly atMs: number }>({
    max: clientsMax,
  });

  /** @param each maximum number of bytes that a client may store in a day; null if there is no limit */
  constructor(each: number | null) {
    this.#each = each ?? Number.POSITIVE_INFINITY;
  }

  /** Whether there is a limit. */
  get isBounded(): boolean {
    return this.#each !== Number.POSITIVE_INFINITY;
  }

  /**
   * Counts bytes of a client and returns 0 if the limit allows these bytes. Otherwise counts nothing, and returns how
   * many milliseconds to wait.
   */
  take(client: string, bytes: number, nowMs = performance.now()): number {
    if (!this.isBounded) return 0;
    const known = this.#levels.get(client);
    const gone = known === undefined ? 0 : ((nowMs - known.atMs) * this.#each) / dayMs;
    const level = Math.max(0, (known?.bytes ?? 0) - gone) + bytes;
    if (level > this.#each) return ((level - this.#each) * dayMs) / this.#each;
    this.#levels.set(client, { bytes: level, atMs: nowMs });
    return 0;
  }
  /** Reduces the count by bytes that were counted but not stored. */
  giveBack(client: string, bytes: number): void {
    const known = this.#levels.get(client);
    if (known !== undefined) this.#levels.set(client, { ...known, bytes: Math.max(0, known.bytes - bytes) });
  }
}
