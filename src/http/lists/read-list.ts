import type { InscriptionFilter } from '#chain/inscriptions/inscription-filter.ts';
import {
  heightOfKey,
  type ListPage,
  listInscriptions,
} from '#chain/inscriptions/inscription-list.queries.ts';
import { readCursor, writeCursor } from '#chain/snapshot/cursor.ts';
import { keysOfHeights } from '#chain/snapshot/inscription-keys.ts';
import type { Paging } from '#http/parameters/list-parameters.ts';
import type { Snapshot } from '#kernel/contracts/search-engine.ts';
import { AppError } from '#kernel/errors/app-error.ts';

/** Number of bytes of a cursor. It contains the key after which the next page begins. */
const keyBytes = 4;

/** A requested page of a list. */
interface List {
  readonly filter: InscriptionFilter | null;
  readonly paging: Paging;
  readonly page: number;
  /** Whether the largest inscriptions come first. Such a list has no next page. */
  readonly bySize?: boolean;
  /** Shortens a page after it was read. It is for lists that show fewer entries than were read. */
  readonly shorten?: (read: ListPage) => ListPage;
}

/** A page of a list, and the cursor of the next page. */
export interface Listed extends ListPage {
  readonly page: number;
  readonly nextCursor: string | null;
  /** Whether the requested page is past the end. The result then contains the first of all inscriptions. */
  readonly isPastEnd: boolean;
}

/**
 * Refuses a page number together with filters or a cursor, because only the list of all inscriptions has page numbers.
 * Throws `request_invalid`.
 */
export function refusePage(page: number, filter: InscriptionFilter | null, paging: Paging): void {
  if (page > 0 && (filter !== null || paging.cursor !== undefined)) {
    throw new AppError('request_invalid', 'page excludes filters and cursor; follow next_cursor instead');
  }
}

/** Reads a page of a list of inscriptions. */
export async function readList({ client, tip }: Snapshot, asked: List): Promise<Listed> {
  const { filter, paging, page, bySize = false, shorten = (read: ListPage) => read } = asked;
  const { order, limit, cursor } = paging;
  const question = `inscriptions ${order} ${JSON.stringify(filter, hexOfBytes)}`;
  const place = cursor === undefined ? null : await readCursor(client, question, cursor, keyBytes);
  const pageIndex = place?.page ?? page;
  let after = place === null ? null : Buffer.from(place.position).readInt32BE();
  // there are no gaps between keys, so the offset of a page of all inscriptions is also its first key
  if (page > 0) {
    const total = await nextKeyOf(client, tip);
    const before = page * limit;
    if (before >= total) {
      // past the end, ord shows the first inscription again
      const first = await listInscriptions(client, { filter: {}, order: 'asc', limit: 1, after: null });
      return { ...first, endKey: null, page, nextCursor: null, isPastEnd: true };
    }
    after = order === 'asc' ? before - 1 : total - before;
  }
  const listed = shorten(
    await listInscriptions(client, { filter: filter ?? {}, order, limit, after, bySize }),
  );
  if (listed.endKey === null) return { ...listed, page: pageIndex, nextCursor: null, isPastEnd: false };
  const position = Buffer.alloc(keyBytes);
  position.writeInt32BE(listed.endKey);
  const height = await heightOfKey(client, listed.endKey);
  const nextCursor = await writeCursor(client, question, height, { page: pageIndex + 1, position });
  return { ...listed, page: pageIndex, nextCursor, isPastEnd: false };
}

/**
 * Converts bytes of a filter to text. A cursor is valid only for the same query, so all processes must write the query
 * in the same way.
 */
function hexOfBytes(_name: string, value: unknown): unknown {
  return value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value;
}

async function nextKeyOf(client: Snapshot['client'], tip: Snapshot['tip']): Promise<number> {
  if (tip === null) return 0;
  const { end } = await keysOfHeights(client, { to: tip.height });
  return end ?? 0;
}
