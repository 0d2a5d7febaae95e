import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import type { SearchEngine, SearchHits, Snapshot } from '#kernel/contracts/search-engine.ts';
import type {
  FirstOfHash,
  PendingAnswer,
  RecordPage,
  SearchService,
} from '#kernel/contracts/search-service.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { withSnapshot } from '#kernel/pg/snapshot.ts';
import { foldText } from '#kernel/text/fold.ts';
import type { Slice } from './inscription-matcher.ts';
import { splitNeedles } from './needles.ts';
import { matchPendingHash, matchPendingTexts, type PendingHits, pendingRevision } from './pending-matcher.ts';
import { lookUpPending, recordsOfPending } from './pending-records.ts';
import { listBytesOf, lookUpRecord, recordsOfKeys } from './records.ts';
import { SearchGate } from './search-gate.ts';

export interface SearchServiceOptions {
  readonly pool: pg.Pool;
  readonly engine: SearchEngine;
  /** Absent: the usual one. */
  readonly gate?: SearchGate;
}

/** Searches as the routes ask them: the engine finds inscriptions, their records are read in the same snapshot. */
export function createSearchService({
  pool,
  engine,
  gate = new SearchGate(),
}: SearchServiceOptions): SearchService {
  /** A search of one moment, when there is room for it. */
  const searched = <T>(
    signal: AbortSignal | undefined,
    read: (snapshot: Snapshot) => Promise<T>,
  ): Promise<T> => gate.run(signal, () => readAnew(() => withSnapshot(pool, read, signal)));
  return {
    textSearch: async ({ corpus, text, phrase, page, itemsPerPage, pending = false, signal }) => {
      const split = splitNeedles(text, phrase);
      if (split.kind === 'refused') throw new AppError('search_text_invalid', split.reason);
      const { needles } = split;
      const query = { corpus, needles: needles.map(foldText), page, itemsPerPage };
      return searched(signal, async (snapshot) => {
        const { client } = snapshot;
        const hits = await engine.searchText(snapshot, query);
        const read = await pageOf(client, hits, query, pending, (slice) =>
          matchPendingTexts(client, corpus, query.needles, slice),
        );
        return { ...read, value: { ...read.value, needles } };
      });
    },

    hashSearch: ({ pending = false, signal, ...query }) =>
      searched(signal, async (snapshot) => {
        const { client } = snapshot;
        const hits = await engine.searchHash(snapshot, query);
        return pageOf(client, hits, query, pending, (slice) => matchPendingHash(client, query.hash, slice));
      }),

    hashes: (hashes, signal) =>
      searched(signal, async ({ client, tip }) => ({ tip, value: await firstOfHashes(client, hashes) })),

    inscription: (id, pending = false) =>
      withSnapshot(pool, async ({ client, tip }) => {
        const record = await lookUpRecord(client, id);
        if (!pending) return { tip, value: record, mempoolRevision: null };
        const mempoolRevision = await pendingRevision(client);
        return { tip, value: record ?? (await lookUpPending(client, id)), mempoolRevision };
      }),
  };
}

/** Snapshots that a search is tried in, and the pause between them: a reorganisation is worked off in some tenths of a second. */
const snapshotsMax = 3;
const anewPauseMs = 150;

/**
 * Reads again, in a later snapshot, where an engine and the snapshot spoke of different chains: what was found in one moment
 * is never shown with rows of another.
 */
async function readAnew<T>(read: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await read();
    } catch (error) {
      const isBehind = error instanceof AppError && error.code === 'search_engine_behind';
      if (!isBehind || attempt === snapshotsMax) throw error;
      await delay(anewPauseMs);
    }
  }
}

/** A page of what an engine found and, where that is asked for, of the mempool's matches behind it. */
async function pageOf(
  client: pg.ClientBase,
  { keys, totalItems, tip }: SearchHits,
  { page, itemsPerPage }: { readonly page: number; readonly itemsPerPage: number },
  pending: boolean,
  matchPending: (slice: Slice) => Promise<PendingHits>,
): Promise<PendingAnswer<RecordPage>> {
  const shown = listBytesOf(itemsPerPage);
  const records = await recordsOfKeys(client, keys, shown);
  if (!pending) return { tip, value: { records, totalItems }, mempoolRevision: null };
  const mempoolRevision = await pendingRevision(client);
  const found = await matchPending({
    offset: Math.max(0, (page - 1) * itemsPerPage - totalItems),
    limit: itemsPerPage - keys.length,
  });
  const more = await recordsOfPending(client, found.refs, shown);
  return {
    tip,
    value: { records: [...records, ...more], totalItems: totalItems + found.totalItems },
    mempoolRevision,
  };
}

/**
 * The first inscription of each content, by the sha256 of its stored or of its decoded bytes; its record without
 * texts (`contentstr` and `metadatastr` are null). One statement for all, and one for the records, however many
 * inscriptions have a content.
 */
async function firstOfHashes(client: pg.ClientBase, hashes: readonly Uint8Array[]): Promise<FirstOfHash[]> {
  const distinct = new Map(hashes.map((hash) => [Buffer.from(hash).toString('hex'), Buffer.from(hash)]));
  const { rows } = await client.query<{ hash: Buffer; key: number | null }>(
    `SELECT hash, min(first_key) AS key
       FROM (SELECT sha256 AS hash, first_key FROM chain.contents WHERE sha256 = ANY($1)
              UNION SELECT decoded_sha256, first_key FROM chain.contents WHERE decoded_sha256 = ANY($1)) AS found
      GROUP BY hash`,
    [[...distinct.values()]],
  );
  const keys = rows.flatMap((row) => (row.key === null ? [] : [row.key]));
  const records = await recordsOfKeys(client, [...new Set(keys)], { content: 0, metadata: 0 });
  const recordOfKey = new Map([...new Set(keys)].map((key, index) => [key, records[index]]));
  const firstOf = new Map(rows.map((row) => [row.hash.toString('hex'), recordOfKey.get(row.key ?? -1)]));
  return hashes.map((hash) => ({ hash, first: firstOf.get(Buffer.from(hash).toString('hex')) ?? null }));
}
