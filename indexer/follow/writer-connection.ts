import { setTimeout as sleep } from 'node:timers/promises';
import { BlockWriter, type Committed } from '#indexer/apply/block-writer.ts';
import { type ChainSession, openChainSession } from '#indexer/apply/chain-session.ts';
import { completeEventHashes } from '#indexer/apply/complete-event-hashes.ts';
import { ensureSecondaryIndexes, searchIndexes } from '#indexer/apply/secondary-indexes.ts';
import type { DerivedSettings } from '#indexer/derived/derived-table.ts';
import { derivedTables } from '#indexer/derived/derived-tables.ts';
import { eventKindsOf } from '#indexer/derived/event-kinds.ts';
import type { EventKind } from '#indexer/events/event-kind.ts';
import { blockReader } from '#indexer/source/block-reader.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { networks } from '#kernel/primitives/network.ts';
import { nameConnections } from '#kernel/stages/watch-statements.ts';
import type { FollowOptions } from './follow-options.ts';

/** How often a standby process checks whether the active process is gone, in ms. */
const standbyEveryMs = 1000;
/**
 * Default of the setting EVENTS_KEEP_BLOCKS: one day of blocks, more than any reorganisation takes back. Half of a text
 * is txids, which do not compress, so in a first load storing a text costs a tenth of the work on its block.
 */
const eventsKeepBlocksDefault = 144;

export interface WriterEvents {
  readonly onCommit: (committed: Committed) => void;
  /** Called when this process took the writer's lock, and when another process has it. */
  readonly onLock: (isHeld: boolean) => void;
  /** The height of the source's best block. */
  readonly tipHeight: () => number;
}

interface Open {
  readonly session: ChainSession;
  readonly writer: BlockWriter;
}

/** The session and the writer of a follower. They are opened when needed, and again after a failure. */
export class WriterConnection {
  readonly #options: FollowOptions;
  readonly #events: WriterEvents;
  #session: ChainSession | null = null;
  #writer: BlockWriter | null = null;
  #hadSession = false;
  #isIndexed = false;
  #isSearchable = false;

  constructor(options: FollowOptions, events: WriterEvents) {
    this.#options = options;
    this.#events = events;
  }

  /** True if no usable connection is open: it was closed, or work on it failed. */
  get isBroken(): boolean {
    return this.#writer === null;
  }

  /** Takes the lock (waiting for it if the options say so), completes old rows, and reads the writer's memory. */
  async open(): Promise<Open> {
    const { source, signal } = this.#options;
    this.#session ??= await this.#openSession();
    if (this.#writer === null) {
      const { behind, remade } = this.#session.followed;
      // a catch-up pass adds the events of the tables that it fills
      const kinds = this.#kinds().filter(
        ({ number }) => ![...behind, ...remade].some(({ eventKind }) => eventKind?.number === number),
      );
      await completeEventHashes(this.#session.writer, { network: networks[source.network], kinds, signal });
      this.#writer = await this.#openWriter(this.#session);
      if (this.#isIndexed) this.#writer.memory.recent.close();
    }
    return { session: this.#session, writer: this.#writer };
  }

  /** Runs work with the writer or its session. If it fails, both are unusable afterwards. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      this.#writer = null;
      throw error;
    }
  }

  /** Builds the secondary indexes that are missing, once. */
  async ensureIndexes(): Promise<void> {
    const session = this.#session;
    if (this.#isIndexed || session === null) return;
    const { demand, pool, onIndexing } = this.#options;
    onIndexing?.();
    await this.run(async () => this.#writer?.settle());
    await this.run(() =>
      ensureSecondaryIndexes(session.writer, {
        tables: session.tables.filter((table) => !session.followed.behind.includes(table)),
        isSearched: demand?.isRecent === true,
        pool,
      }),
    );
    this.#writer?.memory.recent.close();
    this.#isIndexed = true;
  }

  /**
   * Builds the indexes that searches need, during a bulk load, as soon as a search arrives. Without these indexes each
   * search would read whole tables. If no search arrives, the indexes are built at the end, which is faster.
   */
  async indexForSearches(writer: BlockWriter): Promise<void> {
    const session = this.#session;
    if (this.#isSearchable || session === null || this.#options.demand?.isRecent !== true) return;
    await this.run(async () => {
      await writer.finish();
      await ensureSecondaryIndexes(session.writer, { wanted: searchIndexes, isSearched: true });
    });
    this.#isSearchable = true;
  }

  async close(): Promise<void> {
    const session = this.#session;
    this.#session = null;
    this.#writer = null;
    await session?.close();
  }

  async #openSession(): Promise<ChainSession> {
    const { pool, source, signal, standby, derivedTables, onStandby } = this.#options;
    const settings = derivedSettings(this.#options);
    for (let isFirst = true; ; isFirst = false) {
      try {
        const session = await openChainSession(pool, source.network, settings, derivedTables);
        nameConnections(session.writer, session.reader);
        this.#hadSession = true;
        this.#events.onLock(true);
        return session;
      } catch (error) {
        const isBusy = error instanceof AppError && error.code === 'database_busy';
        // after a lost connection, the server may still hold the old lock, or another process may have taken the lock
        // first
        if (!isBusy || !(standby === true || this.#hadSession)) throw error;
        this.#events.onLock(false);
        if (isFirst) onStandby?.();
        await sleep(standbyEveryMs, undefined, { signal });
      }
    }
  }

  #kinds(): readonly EventKind[] {
    const { eventKinds, derivedTables: tables = derivedTables } = this.#options;
    return eventKinds ?? eventKindsOf(tables);
  }

  #openWriter(session: ChainSession): Promise<BlockWriter> {
    const { source, signal, bounds, eventsKeepBlocks, satsKeepBlocks, demand, onStep, stages } =
      this.#options;
    const { onCommit, tipHeight } = this.#events;
    return source.islands().then((islands) =>
      BlockWriter.open({
        session,
        facts: {
          network: networks[source.network],
          readBlock: blockReader(source, signal),
          islands,
          eventKinds: this.#kinds(),
          eventTexts: { keepBlocks: eventsKeepBlocks ?? eventsKeepBlocksDefault, tipHeight },
          ...(satsKeepBlocks === undefined ? {} : { undo: { keepBlocks: satsKeepBlocks, tipHeight } }),
        },
        cacheEntries: bounds?.cacheEntries,
        checksSpends: !source.trusted,
        demand,
        onStep,
        stages,
        onCommit,
      }),
    );
  }
}

function derivedSettings({
  indexAddresses = false,
  indexRunes = true,
  indexSats = false,
  indexSales = true,
}: FollowOptions): DerivedSettings {
  return { indexAddresses, indexRunes, indexSats, indexSales };
}
