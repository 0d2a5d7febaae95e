import { promisify } from 'node:util';
import { inflate } from 'node:zlib';
import type { ClientBase, Pool } from 'pg';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import type { EventKindIdentity } from '#kernel/events/event-kind.ts';
import { awaitFlushed, flush, isFlushed } from '#kernel/pg/await-flushed.ts';
import { withCutConnection } from '#kernel/pg/cut-connection.ts';
import type { BlockHash } from '#kernel/primitives/hash.ts';
import type { Height } from '#kernel/primitives/height.ts';
import { type NetworkName, networks } from '#kernel/primitives/network.ts';
import { failpoint } from '#kernel/process/failpoint.ts';
import type { BlockEventText, StoredEventKind } from './stored-event-kind.ts';

const inflateBytes = promisify(inflate);

/** Maximum number of rows per page. A row takes some hundred bytes even if its block has no events. */
const rowsPerPage = 500;
/**
 * Maximum number of events per page. A page always has at least one row, even if that row has more events. 1000 events
 * are 200 kB of text. The event loop needs some milliseconds each to make, parse and show them.
 */
const eventsPerPage = 1000;
/** Assumed number of events in a block whose events were not counted. A page then has some ten such blocks. */
const uncountedEvents = 100;
/** Maximum bytes of a text. The writer keeps no text above 32 MiB. */
const textBytesMax = 33 * 1024 * 1024;

/** A row of the outbox with the events of one kind. Hashes are in internal order. */
export interface OutboxEntry {
  readonly sequence: number;
  readonly height: Height;
  readonly hash: BlockHash;
  /** Sequence of the row that this row undoes. `null` if this row applies a block. */
  readonly cancels: number | null;
  /** Number of the event kind whose events were all rebuilt. Such a row has no block. `null` if the row has a block. */
  readonly reclassified: number | null;
  /** Number of events of an applied block. `null` if unknown, or if the block was undone before the kind was added. */
  readonly eventCount: number | null;
  /** The canonical text of an applied block. `null` if the text was dropped and the block was undone since then. */
  readonly text: Buffer | null;
}

interface EntryRow {
  sequence: number;
  height: Height;
  block_hash: BlockHash;
  cancels: number | null;
  reclassified: number | null;
  event_count: number | null;
  events: Buffer | null;
  is_there: boolean;
}

/**
 * A page of outbox rows from a sequence on, ascending, all from one moment. Empty at the end of the outbox. Dropped
 * texts are rebuilt from the tables. Returned sequences survive a crash of the server, so they are never used again for
 * other blocks. The needed memory is that of the texts of a page, or of one block if it is larger.
 */
export async function readOutboxPage(
  pool: Pool,
  kind: StoredEventKind,
  network: NetworkName,
  fromSequence: number,
  signal: AbortSignal | null,
): Promise<OutboxEntry[]> {
  let hasFlushed = true;
  const entries = await withSnapshot(
    pool,
    async ({ client }) => {
      const rows = await readRows(client, kind, kind.firstHeight(networks[network]), fromSequence);
      const made = await makeTexts(client, kind, network, rows);
      hasFlushed = rows.length === 0 || (await isFlushed(client));
      // use the text only if the block is still there, because another block may have its height by now
      return rows.map((row) => ({ row, made: row.is_there ? (made.get(row.height) ?? null) : null }));
    },
    signal,
  );
  if (!hasFlushed) await withCutConnection(pool, signal, flush);
  failpoint('outbox');
  return Promise.all(
    entries.map(async ({ row, made }) => ({
      sequence: row.sequence,
      height: row.height,
      hash: row.block_hash,
      cancels: row.cancels,
      reclassified: row.reclassified,
      eventCount: row.event_count ?? made?.count ?? null,
      text:
        row.events === null
          ? (made?.text ?? null)
          : await inflateBytes(row.events, { maxOutputLength: textBytesMax }),
    })),
  );
}

async function readRows(
  client: ClientBase,
  { number }: EventKindIdentity,
  firstHeight: Height,
  fromSequence: number,
): Promise<EntryRow[]> {
  const { rows } = await client.query<EntryRow>(
    `WITH page AS MATERIALIZED (
       SELECT sequence, height, block_hash, cancels, reclassified FROM chain.outbox WHERE sequence >= $1 ORDER BY sequence LIMIT $2
     ), counted AS (
       SELECT page.*, e.events,
         CASE WHEN cancels IS NOT NULL OR reclassified IS NOT NULL OR height < $5 THEN coalesce(e.event_count, 0) ELSE e.event_count END AS event_count
       FROM page LEFT JOIN chain.outbox_events e ON e.sequence = page.sequence AND e.kind = $4
     ), bounded AS (
       SELECT *, sum(coalesce(event_count, $6))
         OVER (ORDER BY sequence ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before FROM counted
     )
     SELECT o.sequence, o.height, o.block_hash, o.cancels, o.reclassified, o.event_count, o.events,
       o.reclassified IS NULL
         AND coalesce((SELECT b.hash FROM chain.blocks b WHERE b.height = o.height) = o.block_hash, false) AS is_there
     FROM bounded o WHERE coalesce(o.before, 0) < $3 ORDER BY o.sequence`,
    [fromSequence, rowsPerPage, eventsPerPage, number, firstHeight, uncountedEvents],
  );
  return rows;
}

/** Rebuilds the dropped texts of blocks that are in the chain. Returns the texts by height. */
async function makeTexts(
  client: ClientBase,
  kind: StoredEventKind,
  network: NetworkName,
  rows: readonly EntryRow[],
): Promise<Map<number, BlockEventText>> {
  const missing = rows.filter((row) => row.cancels === null && row.events === null && row.is_there);
  const heights = [...new Set(missing.map(({ height }) => height))].sort((a, b) => a - b);
  const texts = new Map<number, BlockEventText>();
  for (let at = 0; at < heights.length; ) {
    const from = heights[at]!;
    let to = from;
    // read consecutive blocks together, so that a page of old rows needs only three queries
    while (heights[++at] === to + 1) to++;
    for (const made of await kind.readTexts(client, network, { from, to, keep: true })) {
      texts.set(made.ref.height, made);
    }
  }
  return texts;
}

/**
 * Throws `events_not_ready` while texts of a kind cannot be rebuilt. If the settings omit the kind, throws the error of
 * the kind.
 */
export async function requireEventTexts(
  pool: Pool,
  kind: StoredEventKind,
  signal: AbortSignal,
): Promise<void> {
  await withCutConnection(pool, signal, async (client) => {
    const leftOut = (await kind.leftOut?.(client)) ?? null;
    if (leftOut !== null) throw leftOut;
    const why = await kind.whyNotReadable(client);
    if (why !== null) throw new AppError('events_not_ready', why);
  });
}

/** SQL: the last sequence of the outbox. 0 if the outbox is empty. */
export const lastSequenceSql = '(SELECT coalesce(max(sequence), 0) FROM chain.outbox)';

/** The last sequence of the outbox that survives a crash of the server. 0 if the outbox is empty. */
export async function lastSequence(pool: Pool, signal: AbortSignal | null): Promise<number> {
  return withCutConnection(pool, signal, async (client) => {
    const { rows } = await client.query<{ last: number }>(`SELECT ${lastSequenceSql} AS last`);
    await awaitFlushed(client);
    return rows[0]?.last ?? 0;
  });
}

/**
 * The sequence of the outbox row that applied the lowest block at or above a height, in the current chain. `null` if no
 * block is that high.
 */
export async function sequenceFromHeight(client: ClientBase | Pool, height: Height): Promise<number | null> {
  const { rows } = await client.query<{ sequence: number | null }>(
    `SELECT max(o.sequence) AS sequence
     FROM (SELECT height, hash FROM chain.blocks WHERE height >= $1 ORDER BY height LIMIT 1) AS b
     JOIN chain.outbox o ON o.height = b.height AND o.block_hash = b.hash
       AND o.cancels IS NULL AND o.reclassified IS NULL`,
    [height],
  );
  return rows[0]?.sequence ?? null;
}

/**
 * The hashes of a block. sha256 results have the byte order in which they were computed; the hash of the block itself
 * is in internal order.
 */
export interface EventHashes {
  readonly height: Height;
  readonly blockHash: BlockHash;
  readonly sha256: Uint8Array;
  readonly cumulative: Uint8Array;
}

interface HashesRow {
  height: Height;
  hash: BlockHash;
  sha256: Buffer;
  cumulative_sha256: Buffer;
}

/** Hashes of the events of one kind, by block, from a height on. They ascend by height and are at most `limit`. */
export async function eventHashes(
  client: ClientBase,
  { number, version }: EventKindIdentity,
  from: Height,
  limit: number,
): Promise<EventHashes[]> {
  const { rows } = await client.query<HashesRow>(
    `SELECT e.height, b.hash, e.sha256, e.cumulative_sha256
     FROM chain.event_hashes e JOIN chain.blocks b ON b.height = e.height
     WHERE e.kind = $1 AND e.version = $2 AND e.height >= $3 ORDER BY e.height LIMIT $4`,
    [number, version, from, limit],
  );
  return rows.map(hashesOf);
}

/** The hashes of the highest block that has hashes of a kind. `null` if no block has them. */
export async function latestEventHashes(
  client: ClientBase,
  { number, version }: EventKindIdentity,
): Promise<EventHashes | null> {
  const { rows } = await client.query<HashesRow>(
    `SELECT e.height, b.hash, e.sha256, e.cumulative_sha256
     FROM chain.event_hashes e JOIN chain.blocks b ON b.height = e.height
     WHERE e.kind = $1 AND e.version = $2 ORDER BY e.height DESC LIMIT 1`,
    [number, version],
  );
  return rows[0] === undefined ? null : hashesOf(rows[0]);
}

function hashesOf(row: HashesRow): EventHashes {
  return { height: row.height, blockHash: row.hash, sha256: row.sha256, cumulative: row.cumulative_sha256 };
}

/**
 * The canonical text of the block at a height, for one kind of events. Throws `not_found` if there is no block, or if
 * its events are unknown. Must run in a snapshot.
 */
export async function eventText(
  client: ClientBase,
  kind: StoredEventKind,
  network: NetworkName,
  height: Height,
): Promise<Buffer> {
  const [block] = await kind.readTexts(client, network, { from: height, to: height, keep: true });
  if (block === undefined || block.text === null)
    throw new AppError('not_found', `block ${height} is not indexed`);
  // blocks below the first height of the kind have no events, even if their count is unknown
  if (block.count === null && height >= kind.firstHeight(networks[network]))
    throw new AppError(
      'not_found',
      `the ${kind.name} of block ${height} are unknown, because blocks before it are missing`,
    );
  return block.text;
}
