import type pg from 'pg';
import { BlockWriter, type Committed } from '#indexer/apply/block-writer.ts';
import { type ChainSession, openChainSession, readPosition } from '#indexer/apply/chain-session.ts';
import { ensureSecondaryIndexes, missingIndexes } from '#indexer/apply/secondary-indexes.ts';
import { type UndoHook, undoAbove } from '#indexer/apply/undo.ts';
import { createBufferPool } from '#indexer/source/buffer-pool.ts';
import { createParsePool } from '#indexer/workers/parse-pool.ts';
import type { BlockRef, BlockSource } from '#kernel/contracts/block-source.ts';
import { connectionLost } from '#kernel/pg/connection-lost.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import { networks } from '#kernel/primitives/network.ts';
import { type BatchBounds, batchBounds, gather } from './gather.ts';
import { planFor } from './known-blocks.ts';

/** How far a run has come. */
export interface IndexProgress {
  readonly blocks: number;
  readonly blocksTotal: number;
  /** Of raw blocks. */
  readonly bytes: number;
  readonly inscriptions: number;
}

export interface IndexSummary {
  /** The indexed tip; null: nothing is indexed. */
  readonly height: number | null;
  /** As people write it. */
  readonly hash: string | null;
  /** Height above which blocks were taken back first (-1: all); null: none were. */
  readonly undoneAbove: number | null;
  readonly blocks: number;
  readonly bytes: number;
  readonly inscriptions: number;
  readonly seconds: number;
}

export interface IndexChainOptions {
  readonly source: BlockSource;
  /** Two of its connections are used, and ended afterwards. They must be free of a statement timeout. */
  readonly pool: pg.Pool;
  /** Aborted: what is being written is finished, and the run ends early without an error. */
  readonly signal: AbortSignal;
  /** The last height to apply; absent: the source's tip. Blocks above it that are indexed already stay. */
  readonly until?: number;
  /** After each commit, and once before the first. */
  readonly onProgress?: (progress: IndexProgress) => void;
  /** Run in the transaction of an undo. */
  readonly undoHooks?: readonly UndoHook[];
  /** Worker threads; absent: one a core. */
  readonly threads?: number;
  /** Longest text, decoded, that is made searchable; absent: every one. */
  readonly textMaxBytes?: number;
  /** Smaller bounds than the usual ones, for tests. */
  readonly bounds?: Partial<BatchBounds & { readonly cacheEntries: number }>;
}

/** Fewer blocks to come than these, and indexes that are missing are built before them: readers need them soon. */
const bulkBlocksMin = 100;

/**
 * Brings the database to the chain of a source: takes back what the source does not have, then reads, checks, parses,
 * applies and writes what is missing. Holds the writer's lock meanwhile. When it is done all secondary indexes are there.
 *
 * Throws `database_busy`, `network_mismatch`, `rules_changed`, `postgres_lost`, and for a block that cannot be applied the error that says
 * why, with its height and hash; what was committed before it stays.
 */
export async function indexChain(options: IndexChainOptions): Promise<IndexSummary> {
  options.signal.throwIfAborted();
  try {
    const session = await openChainSession(options.pool, options.source.network);
    try {
      return await bringToTip(session, options);
    } finally {
      await session.close();
    }
  } catch (error) {
    throw connectionLost(error);
  }
}

async function bringToTip(session: ChainSession, options: IndexChainOptions): Promise<IndexSummary> {
  const startedAt = performance.now();
  const { signal } = options;
  const plan = await planFor(session.writer, options.source);
  if (plan.undoTo !== null) await undoAbove(session.writer, plan.undoTo, options.undoHooks ?? []);
  const until = options.until ?? Number.POSITIVE_INFINITY;
  const refs = plan.apply.filter(({ height }) => height <= until);
  const isSmall = refs.length < bulkBlocksMin;
  if (isSmall && !(await isEmpty(session))) await ensureSecondaryIndexes(session.writer);
  const done = await applyBlocks(session, options, refs);
  if (!signal.aborted) await ensureSecondaryIndexes(session.writer);
  const { tip } = await readPosition(session.writer);
  return {
    height: tip?.height ?? null,
    hash: tip === null ? null : displayHash(tip.hash),
    undoneAbove: plan.undoTo,
    ...done,
    seconds: (performance.now() - startedAt) / 1000,
  };
}

/** Nothing was ever indexed: its indexes are built when there is something in the tables. */
async function isEmpty({ writer }: ChainSession): Promise<boolean> {
  if ((await missingIndexes(writer)).length === 0) return false;
  return (await readPosition(writer)).tip === null;
}

interface Done {
  readonly blocks: number;
  readonly bytes: number;
  readonly inscriptions: number;
}

async function applyBlocks(
  session: ChainSession,
  options: IndexChainOptions,
  refs: readonly BlockRef[],
): Promise<Done> {
  const { source, signal, onProgress } = options;
  let done: Done = { blocks: 0, bytes: 0, inscriptions: 0 };
  const report = (committed: Done): void => {
    done = {
      blocks: done.blocks + committed.blocks,
      bytes: done.bytes + committed.bytes,
      inscriptions: done.inscriptions + committed.inscriptions,
    };
    onProgress?.({ ...done, blocksTotal: refs.length });
  };
  if (refs.length === 0) return done;
  report(done);
  const { threads, textMaxBytes } = options;
  const parsePool = createParsePool(createBufferPool(), {
    blocks: refs.length,
    ...(threads === undefined ? {} : { threads }),
    ...(textMaxBytes === undefined ? {} : { textMaxBytes }),
  });
  try {
    const writer = await BlockWriter.open({
      session,
      facts: { network: networks[source.network], islands: await source.islands() },
      position: await readPosition(session.writer),
      onCommit: (committed: Committed) => report(committed),
      cacheEntries: options.bounds?.cacheEntries,
    });
    const last = refs.at(-1);
    const parsed = parsePool.blocks(source, refs, session.fingerprintKey, signal);
    try {
      for await (const batch of gather(parsed, { ...batchBounds, ...options.bounds })) {
        await writer.write(batch, batch.at(-1)?.ref.height !== last?.height);
      }
    } catch (error) {
      // what was begun before it is finished all the same
      await writer.finish();
      if (!signal.aborted) throw error;
    }
    await writer.finish();
    return done;
  } finally {
    await parsePool.close();
  }
}
