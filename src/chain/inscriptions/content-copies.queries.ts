import type { ClientBase } from 'pg';
import { builtIndexes } from '#chain/snapshot/built-indexes.ts';
import type { ListedInscription, ListPage } from './inscription-list.queries.ts';

/** Inscriptions with one content are counted up to here, a walk along an index: a thousand take half a millisecond. */
export const copiesCountedMax = 1_000;

/** Inscriptions with one content. */
export interface ContentCopies {
  readonly sha256: Uint8Array;
  /** At most one more than `copiesCountedMax`. */
  readonly count: number;
}

/** The index that finds the inscriptions of a content: without it each count would read all inscriptions. */
const contentIndex = 'inscriptions_content';

/** How many inscriptions have each of these contents. Empty while the index that finds them is being built. */
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
 * A page without the inscriptions whose content is on it already: at most `max`, each the first of its content in the
 * order of the list. It ends before the next new content; what is left out before that is not shown on a later page.
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
