import type pg from 'pg';
import type {
  SearchFacets,
  SearchHits,
  SearchSlice,
  Snapshot,
  Tip,
} from '#kernel/contracts/search-engine.ts';
import type { Paging, PendingAnswer, RecordPage, SearchRecord } from '#kernel/contracts/search-service.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import type { InscriptionKey } from '#kernel/primitives/inscription-key.ts';
import { type PendingHits, pendingRevision } from '#search/pending/pending-matcher.ts';
import { recordsOfPending } from '#search/pending/pending-records.ts';
import type { Slice } from '#search/postgres/inscription-matcher.ts';
import { Highlighter, highlightBytesOf, highlighted, type Looked } from '#search/records/highlights.ts';
import { listBytesOf, recordsOfKeys, type ShownBytes } from '#search/records/records.ts';
import { readSearchCursor, writeSearchCursor } from './search-cursor.ts';

/** A search with the engine parts that answer it. */
export interface PageQuestion {
  /** All parameters of the search, except the page. A cursor is only valid for the same parameters. */
  readonly name: string;
  readonly paging: Paging;
  readonly search: (slice: SearchSlice) => Promise<SearchHits>;
  readonly facets: () => Promise<SearchFacets>;
  readonly matchPending: (slice: Slice) => Promise<PendingHits>;
  /** Searched words, and the field in which they are highlighted. Null: no highlights. */
  readonly highlight: { readonly looked: Looked; readonly field: 'contentstr' | 'metadatastr' } | null;
}

/** A page of the engine's matches, followed by matches of the mempool if requested. */
export async function readPage(
  { client }: Snapshot,
  question: PageQuestion,
): Promise<PendingAnswer<RecordPage>> {
  const { name, paging, highlight } = question;
  const { page, itemsPerPage, pending = false, cursor } = paging;
  const begin = cursor === undefined ? null : await readSearchCursor(client, name, cursor);
  const hits = await question.search(sliceOf(paging, begin?.after ?? null));
  const facets = paging.facets === true ? await countedAt(hits, question.facets) : undefined;
  const keys = hits.keys.slice(0, itemsPerPage);
  const nextCursor = begin && (await nextOf(client, name, hits.keys, { itemsPerPage, page: begin.page }));
  const texts = shownTexts(itemsPerPage, highlight);
  const indexed = await recordsOfKeys(client, keys, texts.read);
  const value = {
    totalItems: hits.totalItems,
    page: begin?.page ?? page,
    ...(begin === null ? {} : { nextCursor }),
    ...(facets === undefined ? {} : { facets }),
  };
  if (!pending) {
    return {
      tip: hits.tip,
      value: { ...value, records: await texts.finish(indexed) },
      mempoolRevision: null,
    };
  }
  const mempoolRevision = await pendingRevision(client);
  const found = await question.matchPending({
    offset: Math.max(0, (page - 1) * itemsPerPage - hits.totalItems),
    limit: itemsPerPage - keys.length,
  });
  const more = await recordsOfPending(client, found.refs, texts.read);
  const records = await texts.finish([...indexed, ...more]);
  const totalItems = hits.totalItems + found.totalItems;
  return { tip: hits.tip, value: { ...value, records, totalItems }, mempoolRevision };
}

/** The slice to read. It is one longer than the shown page, to know whether there is a next page. */
function sliceOf(
  { page, itemsPerPage, sort, order, cursor }: Paging,
  after: SearchSlice['after'] | null,
): SearchSlice {
  const isByCursor = cursor !== undefined;
  return {
    page: isByCursor ? 1 : page,
    itemsPerPage: isByCursor ? itemsPerPage + 1 : itemsPerPage,
    ...(sort === undefined ? {} : { sort }),
    ...(order === undefined ? {} : { order }),
    ...(after ? { after } : {}),
  };
}

async function nextOf(
  client: pg.ClientBase,
  name: string,
  keys: readonly InscriptionKey[],
  { itemsPerPage, page }: { readonly itemsPerPage: number; readonly page: number },
): Promise<string | null> {
  const last = keys[itemsPerPage - 1];
  if (keys.length <= itemsPerPage || last === undefined) return null;
  return writeSearchCursor(client, name, { key: last, page: page + 1 });
}

/**
 * Maximum number of matches that are counted. Counting visits every match, but a page does not. `/search/facets` counts
 * any number.
 */
const countedMax = 1_000_000;

/**
 * Counts the matches at the moment of the hits. Null: the count would cost too much, or the index changed in between.
 */
async function countedAt(
  { tip, totalItems }: SearchHits,
  count: () => Promise<SearchFacets>,
): Promise<SearchFacets | null> {
  if (totalItems > countedMax) return null;
  try {
    const facets = await count();
    return isSameTip(tip, facets.tip) ? facets : null;
  } catch (error) {
    if (error instanceof AppError && error.code === 'search_too_broad') return null;
    throw error;
  }
}

function isSameTip(a: Tip | null, b: Tip | null): boolean {
  if (a === null || b === null) return a === b;
  return a.height === b.height && a.undoEpoch === b.undoEpoch && Buffer.compare(a.hash, b.hash) === 0;
}

interface Texts {
  readonly read: ShownBytes;
  readonly finish: (records: readonly SearchRecord[]) => Promise<readonly SearchRecord[]>;
}

/** Number of bytes of texts to read, and the function that then changes the records. */
function shownTexts(itemsPerPage: number, highlight: PageQuestion['highlight']): Texts {
  const shown = listBytesOf(itemsPerPage);
  if (highlight === null) return { read: shown, finish: (records) => Promise.resolve(records) };
  const { looked, field } = highlight;
  const bytes = highlightBytesOf(itemsPerPage);
  const name = field === 'contentstr' ? 'content' : 'metadata';
  const read = { ...shown, [name]: Math.max(shown[name], bytes) };
  const highlighter = new Highlighter(looked);
  return {
    read,
    finish: (records) => highlighted(records, field, highlighter, { read: read[name], shown }),
  };
}
