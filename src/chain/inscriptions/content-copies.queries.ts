import type { ClientBase } from 'pg';
import { builtIndexes } from '#chain/snapshot/built-indexes.ts';
import type { ListedInscription, ListPage } from './inscription-list.queries.ts';

/**
 * Maximum number up to which inscriptions with the same content are counted exactly. The count reads an index, which
 * takes half a millisecond for a thousand entries.
 */
export const copiesCountedMax = 1_000;

/** The number of inscriptions with the same content. */
export interface ContentCopies {
  readonly sha256: Uint8Array;
  /** Number of inscriptions, at most one more than `copiesCountedMax`. */
  readonly count: number;
}

/** The index that finds the inscriptions of a content. Without it each count would read all inscriptions. */
const contentIndex = 'inscriptions_content';

/** The number of inscriptions with each of these contents. Empty while the index that finds them is being built. */
export async function contentCopies(
  client: ClientBase,
  contentIds: readonly number[],
): Promise<Map<number, ContentCopies>> {
  if (!(await builtIndexes(client, [contentIndex])).has(contentIndex)) return new Map();
  const { rows } = await client.query<{ content_id: number; sha256: Buffer; count: number }>(
    `SELECT c.content_id, c.sha256, (SELECT count(*) FROM (
       SELECT FROM chain.inscriptions i WHERE i.content_id = c.content_id LIMIT ${copiesCountedMax + 1}) AS counted) AS count
     FROM chain.contents c WHERE c.content_id = ANY($1::integer[])`,
    [contentIds],
  );
  return new Map(rows.map(({ content_id, sha256, count }) => [content_id, { sha256, count }]));
}

/**
 * Removes repeated contents from a page. The result has at most `max` inscriptions, each the first with its content in
 * the order of the list. The page ends before the next new content. Repeats that were removed before that point are not
 * shown on a later page.
 */
export function withoutCopies({ inscriptions, endKey }: ListPage, max: number): ListPage {
  const seen = new Set<number>();
  const shown: ListedInscription[] = [];
  let last: ListedInscription | null = null;
  for (const inscription of inscriptions) {
    const { contentId } = inscription;
    const isCopy = contentId !== null && seen.has(contentId);
    if (!isCopy && shown.length === max) return { inscriptions: shown, endKey: last?.key ?? null };
    if (!isCopy) shown.push(inscription);
    if (contentId !== null) seen.add(contentId);
    last = inscription;
  }
  return { inscriptions: shown, endKey };
}
