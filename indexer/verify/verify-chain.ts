import { AssertionError } from 'node:assert';
import type pg from 'pg';
import { indexesOnly } from '#chain/snapshot/indexes-only.ts';
import { type ChainFacts, endBatch } from '#indexer/apply/fill-batch.ts';
import { DerivedBatch, factsOf } from '#indexer/derived/derived-batch.ts';
import { hasRowsOf, readDerivedStates } from '#indexer/derived/derived-state.ts';
import type { DerivedTable } from '#indexer/derived/derived-table.ts';
import { derivedTables } from '#indexer/derived/derived-tables.ts';
import { eventKindsOf } from '#indexer/derived/event-kinds.ts';
import type { EventKind } from '#indexer/events/event-kind.ts';
import { isLive } from '#indexer/follow/plan-steps.ts';
import { blockReader } from '#indexer/source/block-reader.ts';
import { createBufferPool } from '#indexer/source/buffer-pool.ts';
import { expandFingerprintKey } from '#indexer/transaction/outpoint-fingerprint.ts';
import { createParsePool, type ParsedBlock, type ParsePool } from '#indexer/workers/parse-pool.ts';
import type { ParseThreads } from '#indexer/workers/parse-threads.ts';
import type { BlockRef, BlockSource } from '#kernel/contracts/block-source.ts';
import type { LiveBlockSource } from '#kernel/contracts/live-source.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { postgresFailure } from '#kernel/pg/postgres-failure.ts';
import { withTransaction } from '#kernel/pg/transaction.ts';
import { type BlockHash, displayHash } from '#kernel/primitives/hash.ts';
import { asHeight, genesisHeight, type Height } from '#kernel/primitives/height.ts';
import { networks } from '#kernel/primitives/network.ts';
import { compareBlock } from './compare-block.ts';
import type { Difference } from './difference.ts';
import { type RecomputedBlock, recomputeBlock } from './recompute-block.ts';
import { strayRows } from './stray-rows.ts';

/** Maximum number of heights and hashes compared at once. */
const pageBlocks = 1000;

export interface VerifyOptions {
  readonly source: BlockSource | LiveBlockSource;
  readonly pool: pg.Pool;
  readonly signal: AbortSignal;
  /** First and last height. Absent: the lowest indexed height, and the tip. */
  readonly from?: Height;
  readonly to?: Height;
  /** Maximum number of differences; the run stops after this many. */
  readonly differencesMax: number;
  /** Number of worker threads, or threads that others use too. Absent: one per core. */
  readonly threads?: number | ParseThreads;
  /** Kinds of events. Absent: inscriptions and the kinds of the derived tables. */
  readonly eventKinds?: readonly EventKind[];
  /** Maximum length in bytes of a decoded text that is made searchable. It must be the database's setting. */
  readonly textMaxBytes?: number;
  /** Derived tables that the database may have. Absent: all tables of this program. */
  readonly derivedTables?: readonly DerivedTable[];
  readonly onProgress?: (progress: VerifyProgress) => void;
}

export interface VerifyProgress {
  readonly blocks: number;
  readonly blocksTotal: number;
  readonly bytes: number;
  readonly inscriptions: number;
}

export interface Verified extends VerifyProgress {
  readonly from: Height;
  readonly to: Height;
  readonly differences: readonly Difference[];
}

interface Stored {
  readonly fingerprintKey: Uint8Array;
  /** Derived tables that the database has. */
  readonly tables: readonly DerivedTable[];
  readonly lowest: Height;
  readonly tip: Height;
}

/**
 * Recomputes every block of a range from the source, on the state that the tables had before the block. Compares all
 * rows that the block would write with the tables. Only reads, each block in one snapshot of the database, so a
 * follower may run at the same time. If the range is the whole chain, also finds rows that belong to no block.
 *
 * Throws `network_mismatch`, `nothing_indexed`, `tip_changed` if blocks of the range are taken back meanwhile, and the
 * errors of the source.
 */
export async function verifyChain(options: VerifyOptions): Promise<Verified> {
  const client = await options.pool.connect();
  try {
    const tables = options.derivedTables ?? derivedTables;
    return await verifyWith(client, options, tables, options.eventKinds ?? eventKindsOf(tables));
  } catch (error) {
    throw postgresFailure(error);
  } finally {
    client.release(true);
  }
}

async function verifyWith(
  client: pg.PoolClient,
  options: VerifyOptions,
  tables: readonly DerivedTable[],
  kinds: readonly EventKind[],
): Promise<Verified> {
  const { source, signal, threads, textMaxBytes, onProgress, differencesMax } = options;
  const stored = await readStored(client, source, tables);
  const from = asHeight(Math.max(options.from ?? 0, stored.lowest));
  const to = asHeight(Math.min(options.to ?? stored.tip, stored.tip));
  const facts = {
    network: networks[source.network],
    eventKinds: kinds,
    islands: await source.islands(),
    fingerprintKey: expandFingerprintKey(stored.fingerprintKey),
    readBlock: blockReader(source, signal),
  };
  const differences: Difference[] = [];
  const done = { blocks: 0, blocksTotal: await countBlocks(client, from, to), bytes: 0, inscriptions: 0 };
  const parsePool = createParsePool(createBufferPool(), {
    blocks: done.blocksTotal,
    facts: factsOf(stored.tables),
    ...(threads === undefined ? {} : { threads }),
    ...(textMaxBytes === undefined ? {} : { textMaxBytes }),
  });
  try {
    onProgress?.(done);
    for await (const found of verifiedBlocks(client, options, parsePool, { ...stored, from, to, facts })) {
      differences.push(...found.differences);
      done.blocks += found.blocks;
      done.bytes += found.bytes;
      done.inscriptions += found.inscriptions;
      onProgress?.(done);
      if (differences.length >= differencesMax) break;
    }
  } finally {
    await parsePool.close();
  }
  signal.throwIfAborted();
  const isWhole = from === stored.lowest && to === stored.tip && differences.length < differencesMax;
  if (isWhole) differences.push(...(await strayRows(client, to, stored.tables)));
  return { ...done, from, to, differences };
}

interface Range extends Stored {
  readonly from: Height;
  readonly to: Height;
  readonly facts: ChainFacts;
}

interface Found {
  readonly blocks: number;
  readonly bytes: number;
  readonly inscriptions: number;
  readonly differences: readonly Difference[];
}

async function* verifiedBlocks(
  client: pg.ClientBase,
  { source, signal }: VerifyOptions,
  parsePool: ParsePool,
  { from, to, fingerprintKey, facts, tables }: Range,
): AsyncGenerator<Found> {
  for await (const page of pages(client, from, to)) {
    const { same, different } = await compareRefs(source, page, signal);
    if (different.length > 0) {
      yield { blocks: different.length, bytes: 0, inscriptions: 0, differences: different };
    }
    for await (const block of parsePool.blocks(source, same, fingerprintKey, signal)) {
      const found = await inOneMoment(client, block, (tx) => verifyBlock(tx, block, facts, tables));
      block.release();
      yield found;
    }
  }
}

async function verifyBlock(
  tx: pg.ClientBase,
  block: ParsedBlock,
  facts: ChainFacts,
  tables: readonly DerivedTable[],
): Promise<Found> {
  const { ref } = block;
  const states = await readDerivedStates(tx, tables);
  // a table that is filled or rebuilt only has rows of blocks up to its tip
  const active = states.filter((state) => hasRowsOf(state, ref.height));
  const bytes = block.bytes.length;
  let made: RecomputedBlock;
  try {
    const derived = new DerivedBatch(active, facts, null);
    await derived.ask(tx, [block]);
    made = await recomputeBlock(tx, block, facts, derived);
    endBatch(made.batch);
  } catch (error) {
    // the error means that the stored state before the block is impossible
    if (!(error instanceof AppError || error instanceof AssertionError)) throw error;
    const difference: Difference = {
      height: ref.height,
      table: 'chain.blocks',
      row: `height ${ref.height}`,
      column: null,
      expected: 'a block that follows what the tables have before it',
      found: error.message,
    };
    return { blocks: 1, bytes, inscriptions: 0, differences: [difference] };
  }
  const differences = await compareBlock(tx, block, made);
  return { blocks: 1, bytes, inscriptions: made.batch.inscriptions, differences };
}

async function readStored(
  client: pg.ClientBase,
  source: BlockSource,
  tables: readonly DerivedTable[],
): Promise<Stored> {
  const { rows } = await client.query<{
    network: string;
    fingerprint_key: Buffer;
    tip_height: Height | null;
    lowest: Height | null;
  }>(
    `SELECT network, fingerprint_key, tip_height, (SELECT min(height) FROM chain.blocks) AS lowest
     FROM chain.state`,
  );
  const row = rows[0];
  if (row === undefined || row.tip_height === null) {
    throw new AppError('nothing_indexed', 'There is nothing to verify, because no block is indexed.');
  }
  if (row.network !== source.network) {
    const message = `The blocks are of ${source.network}, but this database serves ${row.network}.`;
    throw new AppError('network_mismatch', message, { source: source.network, database: row.network });
  }
  return {
    fingerprintKey: Uint8Array.from(row.fingerprint_key),
    tables: (await readDerivedStates(client, tables)).map(({ table }) => table),
    lowest: row.lowest ?? genesisHeight,
    tip: row.tip_height,
  };
}

async function countBlocks(client: pg.ClientBase, from: Height, to: Height): Promise<number> {
  const { rows } = await client.query<{ count: number }>(
    'SELECT count(*)::integer AS count FROM chain.blocks WHERE height BETWEEN $1 AND $2',
    [from, to],
  );
  return rows[0]?.count ?? 0;
}

async function* pages(client: pg.ClientBase, from: Height, to: Height): AsyncGenerator<BlockRef[]> {
  for (let next = from; ; ) {
    const { rows } = await client.query<{ height: Height; hash: BlockHash }>(
      `SELECT height, hash FROM chain.blocks WHERE height BETWEEN $1 AND $2 ORDER BY height LIMIT ${pageBlocks}`,
      [next, to],
    );
    const last = rows.at(-1);
    if (last === undefined) return;
    yield rows;
    next = asHeight(last.height + 1);
  }
}

/** Determines which of our blocks the source has at the same heights. */
async function compareRefs(
  source: BlockSource | LiveBlockSource,
  ours: readonly BlockRef[],
  signal: AbortSignal,
): Promise<{ same: BlockRef[]; different: Difference[] }> {
  const first = ours[0]?.height ?? genesisHeight;
  const theirs = isLive(source)
    ? await source.headers(first, (ours.at(-1)?.height ?? first) - first + 1, signal)
    : await source.refs(first);
  const hashes = new Map(theirs.map(({ height, hash }) => [height, displayHash(hash)]));
  const same: BlockRef[] = [];
  const different: Difference[] = [];
  for (const ref of ours) {
    const { height } = ref;
    const [expected, found] = [hashes.get(height) ?? null, displayHash(ref.hash)];
    if (expected === found) same.push(ref);
    else {
      const row = `height ${height}`;
      different.push({ height, table: 'chain.blocks', row, column: 'hash', expected, found });
    }
  }
  return { same, different };
}

const beginReading = `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; ${indexesOnly}`;

/** Runs work in a snapshot of the database that has the block. */
function inOneMoment<T>(
  client: pg.ClientBase,
  { ref }: ParsedBlock,
  work: (tx: pg.ClientBase) => Promise<T>,
): Promise<T> {
  return withTransaction(
    client,
    async (tx) => {
      const { rowCount } = await tx.query('SELECT FROM chain.blocks WHERE height = $1 AND hash = $2', [
        ref.height,
        ref.hash,
      ]);
      if (rowCount === 1) return work(tx);
      const message = `Block ${ref.height} was taken back during the verification.`;
      throw new AppError('tip_changed', message, { height: ref.height });
    },
    beginReading,
  );
}
