import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { writerSettings } from '#indexer/apply/chain-session.ts';
import { factsOf } from '#indexer/derived/derived-batch.ts';
import { type DerivedState, isBehind, readDerivedStates } from '#indexer/derived/derived-state.ts';
import type { DerivedSettings, DerivedTable } from '#indexer/derived/derived-table.ts';
import { derivedTables } from '#indexer/derived/derived-tables.ts';
import { batchBounds, gather } from '#indexer/follow/gather-batches.ts';
import { isLive } from '#indexer/follow/plan-steps.ts';
import type { WriterActivity } from '#indexer/follow/writer-activity.ts';
import { blockReader } from '#indexer/source/block-reader.ts';
import { createBufferPool } from '#indexer/source/buffer-pool.ts';
import { expandFingerprintKey } from '#indexer/transaction/outpoint-fingerprint.ts';
import { createParsePool, type ParsedBlock, type ParsePool } from '#indexer/workers/parse-pool.ts';
import type { ParseThreads } from '#indexer/workers/parse-threads.ts';
import type { SearchDemand } from '#kernel/concurrency/search-demand.ts';
import type { BlockRef, BlockSource } from '#kernel/contracts/block-source.ts';
import type { LiveBlockSource } from '#kernel/contracts/live-source.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { takeAdvisoryLock } from '#kernel/pg/advisory-lock.ts';
import { connectPipelined } from '#kernel/pg/pool.ts';
import { postgresFailure } from '#kernel/pg/postgres-failure.ts';
import { asHeight, type Height } from '#kernel/primitives/height.ts';
import { networks } from '#kernel/primitives/network.ts';
import { Patience } from '#kernel/retry.ts';
import { CatchUpBatches, type CatchUpGroup, furthestBehind, refsOfGroup } from './catch-up-batch.ts';

/** Maximum number of blocks planned at once. A table may be added while they are processed. */
const pageBlocks = 2000;
/** How often the pass checks for added tables, in ms. A check costs one small query. */
const lookEveryMs = 5000;

export interface CatchUpOptions {
  readonly source: BlockSource | LiveBlockSource;
  /** Pool from which the pass holds one connection while a table is behind. */
  readonly pool: pg.Pool;
  /** Ends the pass without an error, after the current write. */
  readonly signal: AbortSignal;
  readonly settings: DerivedSettings;
  /** Tells whether the follower is applying blocks: the pass waits for it. */
  readonly writer: WriterActivity;
  /** True: end once every wanted table has all blocks. False: wait for tables that are added later. */
  readonly endsCaughtUp: boolean;
  /** Absent: all tables of this program. */
  readonly derivedTables?: readonly DerivedTable[];
  /** Searches of this process, which take precedence. */
  readonly demand?: SearchDemand;
  /**
   * Number of worker threads, or threads that others use too. Absent: one thread. With shared threads, new blocks use
   * the other threads.
   */
  readonly threads?: number | ParseThreads;
  /** Maximum length in bytes of a decoded text that is made searchable. Absent: no limit. */
  readonly textMaxBytes?: number;
  /** Called after each batch. */
  readonly onProgress?: (progress: CatchUpProgress) => void;
  /** Called when the writer takes these tables over. */
  readonly onCaughtUp?: (names: readonly string[]) => void;
  /** Called with every failure. `delayMs` null: the failure is not retried. */
  readonly onProblem?: (problem: AppError, delayMs: number | null) => void;
  /** Smaller bounds than the defaults; used by tests. */
  readonly bounds?: {
    readonly blocksMax?: number;
    readonly lookMs?: number;
    readonly mendedEveryMs?: number;
  };
}

export interface CatchUpProgress {
  readonly tables: readonly string[];
  /** Height of the last block in the tables. */
  readonly height: Height;
}

/**
 * Fills derived tables for blocks that were indexed before the tables were added, in the background and in chain order.
 * Rows are made from other tables if these suffice (`DerivedTable.fill`). Otherwise the blocks are read again. Each
 * batch is a transaction with the tip of its tables, so a killed pass resumes there. When no block is left, the writer
 * takes a table over. One process at a time does this. A table that is rebuilt by other rules is filled likewise: each
 * batch replaces the table's rows of its blocks, while the writer continues to add rows of new blocks.
 *
 * Temporary failures are retried, as in the follower. Other failures are stored with the table (`problem_code`) and
 * shown in `/status`, and the pass ends without an error. A node that lacks a block is asked again once a minute.
 * Throws only faults that no operator can fix: broken invariants.
 */
export async function catchUp(options: CatchUpOptions): Promise<void> {
  await new CatchUpPass(options).run();
}

type RoundEnd = 'again' | 'idle' | 'end';

class CatchUpPass {
  readonly #options: CatchUpOptions;
  readonly #tables: readonly DerivedTable[];
  readonly #wanted: readonly DerivedTable[];
  readonly #patience: Patience;
  #client: pg.Client | null = null;
  #parsePool: ParsePool | null = null;
  #parsedFacts = '';
  /** Names of the tables that are being filled. */
  #current: readonly string[] = [];

  constructor(options: CatchUpOptions) {
    this.#options = options;
    this.#tables = options.derivedTables ?? derivedTables;
    this.#wanted = this.#tables.filter((table) => table.isWanted(options.settings));
    const { source } = options;
    this.#patience = new Patience({
      isFolder: !isLive(source),
      hasCookieFile: isLive(source) && source.hasCookieFile === true,
      waitsForPeople: true,
      mendedEveryMs: options.bounds?.mendedEveryMs,
    });
  }

  async run(): Promise<void> {
    const { signal, bounds } = this.#options;
    try {
      for (let end: RoundEnd = 'again'; end !== 'end' && !signal.aborted; ) {
        end = await this.#attempt();
        if (end === 'idle') await pause(bounds?.lookMs ?? lookEveryMs, signal);
      }
    } finally {
      await this.#rest();
    }
  }

  /** Releases the resources of a pass over blocks: the connection with the lock, and the threads. */
  async #rest(): Promise<void> {
    this.#current = [];
    this.#disconnect();
    await this.#parsePool?.close();
    this.#parsePool = null;
  }

  async #attempt(): Promise<RoundEnd> {
    const { signal, onProblem } = this.#options;
    try {
      const end = await this.#round();
      this.#patience.reset();
      return end;
    } catch (error) {
      const failure = postgresFailure(error);
      this.#disconnect();
      if (signal.aborted && (failure instanceof AppError || isAbort(failure))) return 'end';
      if (!(failure instanceof AppError)) throw failure;
      const delayMs = this.#patience.delayAfter(failure);
      await this.#keepProblem(failure);
      // report it only while tables are being filled: otherwise the parts that need the database report it
      if (this.#current.length > 0) onProblem?.(failure, delayMs);
      if (delayMs === null) return 'end';
      await pause(delayMs, signal);
      return 'again';
    }
  }

  async #round(): Promise<RoundEnd> {
    const { pool, writer, signal } = this.#options;
    const behind = await this.#behind(pool);
    if (behind !== 'some') {
      await this.#rest();
      return behind;
    }
    await writer.idle(signal);
    const client = await this.#connect();
    if (client === null) return 'idle';
    // the lock is held: from here on no other process changes the tables
    const states = await this.#statesBehind(client);
    if (states.length === 0) return 'again';
    // tables that need no blocks first: these are complete within minutes, even if the source lacks blocks
    const filled = states.filter(({ table }) => table.fill !== undefined);
    const group = furthestBehind(filled.length > 0 ? filled : states);
    this.#current = group.states.map(({ table }) => table.name);
    const { batches, fingerprintKey } = await this.#batches(client);
    const refs = await refsOfGroup(client, group, pageBlocks);
    if (refs.length === 0) {
      if (await batches.handOver(group)) this.#options.onCaughtUp?.(this.#current);
      return 'again';
    }
    if (filled.length > 0) {
      await this.#fill(batches, group, refs);
      return 'again';
    }
    const parser = await this.#parser(group);
    const blocks = parser.blocks(this.#options.source, refs, fingerprintKey, signal);
    await this.#write(batches, group, blocks);
    return 'again';
  }

  /** Returns `some` if a wanted table is behind, otherwise the reason why the pass has nothing to do. */
  async #behind(pool: pg.Pool): Promise<RoundEnd | 'some'> {
    const client = await pool.connect();
    try {
      const states = await readDerivedStates(client, this.#tables);
      const isAnyBehind = states.some((state) => isBehind(state) && this.#wanted.includes(state.table));
      if (isAnyBehind) return 'some';
      // a wanted table without a state: the writer has not applied its settings yet
      const isUnclaimed = this.#wanted.some((table) => !states.some((state) => state.table === table));
      return isUnclaimed || !this.#options.endsCaughtUp ? 'idle' : 'end';
    } finally {
      client.release();
    }
  }

  async #statesBehind(client: pg.ClientBase): Promise<DerivedState[]> {
    const states = await readDerivedStates(client, this.#tables);
    return states.filter((state) => isBehind(state) && this.#wanted.includes(state.table));
  }

  async #write(
    batches: CatchUpBatches,
    group: CatchUpGroup,
    blocks: AsyncIterable<ParsedBlock>,
  ): Promise<void> {
    const { writer, signal, onProgress, bounds } = this.#options;
    const blocksMax = bounds?.blocksMax ?? batchBounds.blocksMax;
    let next: CatchUpGroup | null = group;
    for await (const batch of gather(blocks, { ...batchBounds, blocksMax })) {
      // let the writer apply new blocks first
      await writer.idle(signal);
      next = await batches.write(next, batch);
      if (next === null) return;
      this.#patience.reset();
      onProgress?.({ tables: this.#current, height: asHeight(next.from - 1) });
    }
  }

  async #fill(batches: CatchUpBatches, group: CatchUpGroup, refs: readonly BlockRef[]): Promise<void> {
    const { writer, signal, onProgress, bounds } = this.#options;
    const blocksMax = bounds?.blocksMax ?? pageBlocks;
    let next: CatchUpGroup | null = group;
    for (let at = 0; at < refs.length && next !== null && !signal.aborted; ) {
      await writer.idle(signal);
      next = await batches.fill(next, refs.slice(at, at + blocksMax));
      if (next === null) return;
      const { from } = next;
      at = refs.findLastIndex(({ height }) => height < from) + 1;
      this.#patience.reset();
      onProgress?.({ tables: this.#current, height: asHeight(from - 1) });
    }
  }

  async #batches(client: pg.ClientBase): Promise<{ batches: CatchUpBatches; fingerprintKey: Uint8Array }> {
    const { source, pool, signal } = this.#options;
    const { rows } = await client.query<{ key: Buffer }>('SELECT fingerprint_key AS key FROM chain.state');
    const fingerprintKey = Uint8Array.from(rows[0]?.key ?? []);
    const facts = {
      network: networks[source.network],
      islands: await source.islands(),
      fingerprintKey: expandFingerprintKey(fingerprintKey),
      readBlock: blockReader(source, signal),
    };
    return { batches: new CatchUpBatches(client, { pool, tables: this.#tables, facts }), fingerprintKey };
  }

  async #parser({ states }: CatchUpGroup): Promise<ParsePool> {
    const { threads = 1, textMaxBytes, demand } = this.#options;
    const facts = factsOf(states.map(({ table }) => table));
    const names = [...facts].toSorted().join();
    if (names !== this.#parsedFacts) {
      await this.#parsePool?.close();
      this.#parsePool = null;
    }
    this.#parsedFacts = names;
    this.#parsePool ??= createParsePool(createBufferPool(), {
      threads,
      facts,
      ...(textMaxBytes === undefined ? {} : { textMaxBytes }),
      ...(demand === undefined ? {} : { demand }),
    });
    return this.#parsePool;
  }

  /** Returns the connection that holds the lock. Null if another process holds it. */
  async #connect(): Promise<pg.Client | null> {
    if (this.#client !== null) return this.#client;
    const client = await connectPipelined(this.#options.pool);
    try {
      await takeAdvisoryLock(client, 'catchUp');
      await client.query(writerSettings);
    } catch (error) {
      await client.end().catch(() => undefined);
      if (error instanceof AppError && error.code === 'database_busy') return null;
      throw error;
    }
    this.#client = client;
    return client;
  }

  #disconnect(): void {
    // not awaited: a stalled server would not answer
    this.#client?.end().catch(() => undefined);
    this.#client = null;
  }

  /**
   * Stores why tables cannot continue, for `/status`. If the problem is the stored one, the time of its first
   * occurrence is kept.
   */
  async #keepProblem({ code, message }: AppError): Promise<void> {
    await this.#options.pool
      .query(
        `UPDATE chain.derived_tables SET problem_code = $2, problem_message = $3,
           problem_since = CASE WHEN problem_code = $2 THEN problem_since ELSE now() END
         WHERE name = ANY($1) AND (NOT is_followed OR is_remade)`,
        [this.#current, code, message],
      )
      // ignore it: if this write fails, the database is the problem itself
      .catch(() => undefined);
  }
}

function isAbort(failure: unknown): boolean {
  return failure instanceof Error && failure.name === 'AbortError';
}

async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  await sleep(milliseconds, undefined, { signal }).catch(() => undefined);
}
