import type pg from 'pg';
import { TrackedOutputs } from '#indexer/ledger/tracked-outputs.ts';
import { readCopy } from '#kernel/pg/copy-read.ts';
import { withTransaction } from '#kernel/pg/transaction.ts';
import { ContentRegistry, contentCacheEntries, metadataCacheEntries } from './content-registry.ts';
import { RecentOutputs } from './recent-outputs.ts';

/** Committed data that the writer keeps in memory. It can be rebuilt from the tables at any time. */
export interface WriterMemory {
  readonly tracked: TrackedOutputs;
  readonly contents: ContentRegistry;
  readonly metadata: ContentRegistry;
  /** Used by a bulk load; empty at the start. */
  readonly recent: RecentOutputs;
  /**
   * Spent outputs that held inscriptions. Null if the source of the blocks checks for double spends. May still contain
   * spends that were taken back, so on a hit the caller queries the database.
   */
  readonly spent: TrackedOutputs | null;
}

const int2Field = 4 + 2;
const int4Field = 4 + 4;
const int8Field = 4 + 8;
const hashField = 4 + 32;

/**
 * Streams the memory from the tables: 8 bytes for each unspent location and 38 bytes for each distinct content. Reads
 * whole tables in their stored order, because the session's settings (chain-session.ts) would otherwise use an index.
 *
 * @param cacheEntries number of entries of each registry, a power of two, and of the recent outputs; absent: the
 * defaults
 */
export function loadWriterMemory(
  client: pg.ClientBase,
  cacheEntries?: number,
  withSpent = false,
): Promise<WriterMemory> {
  return withTransaction(
    client,
    (tx) => load(tx, cacheEntries, withSpent),
    'BEGIN READ ONLY; SET LOCAL enable_seqscan = on',
  );
}

async function load(
  client: pg.ClientBase,
  cacheEntries: number | undefined,
  withSpent: boolean,
): Promise<WriterMemory> {
  const { rows } = await client.query<{ contents: number; metadata: number }>(
    `SELECT coalesce((SELECT max(content_id) + 1 FROM chain.contents), 0) AS contents,
            coalesce((SELECT max(metadata_id) + 1 FROM chain.metadata_texts), 0) AS metadata`,
  );
  const contents = new ContentRegistry(cacheEntries ?? contentCacheEntries, rows[0]?.contents ?? 0);
  const metadata = new ContentRegistry(cacheEntries ?? metadataCacheEntries, rows[0]?.metadata ?? 0);
  await readCopy(
    client,
    'SELECT content_id, variant, sha256 FROM chain.contents ORDER BY content_id',
    2 + int4Field + int2Field + hashField,
    (bytes, at) => {
      const variant = bytes.readInt16BE(at + int4Field + 4);
      contents.learn(bytes, at + int4Field + int2Field + 4, variant, bytes.readInt32BE(at + 4));
    },
  );
  await readCopy(
    client,
    'SELECT metadata_id, sha256 FROM chain.metadata_texts ORDER BY metadata_id',
    2 + int4Field + hashField,
    (bytes, at) => metadata.learn(bytes, at + int4Field + 4, 0, bytes.readInt32BE(at + 4)),
  );
  const tracked = await loadOutputs(client, 'spent_height IS NULL');
  const spent = withSpent ? await loadOutputs(client, 'spent_height IS NOT NULL') : null;
  return { tracked, contents, metadata, recent: new RecentOutputs(cacheEntries), spent };
}

async function loadOutputs(client: pg.ClientBase, where: string): Promise<TrackedOutputs> {
  const outputs = new TrackedOutputs();
  await readCopy(
    client,
    `SELECT outpoint_fingerprint FROM chain.locations WHERE ${where} AND outpoint_fingerprint IS NOT NULL`,
    2 + int8Field,
    (bytes, at) => outputs.add(bytes.readUInt32BE(at + 8), bytes.readUInt32BE(at + 4)),
  );
  return outputs;
}
