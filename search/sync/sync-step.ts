import type pg from 'pg';
import { AppError } from '#kernel/errors/app-error.ts';
import { withTransaction } from '#kernel/pg/transaction.ts';
import { unreachable } from '#kernel/unreachable.ts';
import { type BulkCounts, bulkDocuments } from '#search/elastic/documents/bulk-documents.ts';
import { readGroups } from '#search/elastic/documents/document-rows.ts';
import { documentsOf, type SearchDocument } from '#search/elastic/documents/group-document.ts';
import { PhraseBook } from '#search/elastic/phrases/phrase-book.ts';
import type { ElasticClient } from '#search/elastic/server/elastic-client.ts';
import { type Marker, type PlacedMarker, readMarker } from '#search/elastic/server/marker.ts';
import { refreshIndex } from '#search/elastic/server/search-index.ts';
import { countInscriptions, firstStraddlingKey, newerThanOutbox, removeFrom } from './index-documents.ts';
import { countFindable, isThere, readBlockUpTo, readOnlyMoment, readPosition } from './outbox.ts';
import { placeMarker } from './placed-marker.ts';
import { planStep } from './sync-plan.ts';

export interface IndexSyncOptions {
  readonly elastic: ElasticClient;
  /** Name of the index itself, not of its alias. */
  readonly index: string;
  /**
   * Connection that reads the chain and holds the lock for writing the index. It must not be used for anything else.
   */
  readonly chain: pg.ClientBase;
  readonly signal: AbortSignal;
  /** Maximum number of inscriptions in a step, unless one block has more. */
  readonly keysMax: number;
  /** Called for failures of Elasticsearch that are retried. */
  readonly onRetry?: (error: AppError) => void;
}

/** The result of a step. `again`: the chain changed and must be read again. */
export interface StepDone {
  readonly kind: 'advanced' | 'rewound' | 'nothing' | 'again';
  readonly marker: Marker;
  /** Number of inscriptions in the step. */
  readonly keys: number;
  readonly documents: number;
  readonly bytes: number;
}

/**
 * Advances one index to the chain, step by step. The marker is all that it knows about the index, so create a new
 * object after any failure. The first step removes leftovers of interrupted steps.
 */
export class IndexSync {
  readonly #options: IndexSyncOptions;
  readonly #book: PhraseBook;
  #placed: PlacedMarker;
  /** True while documents may exist above the marker, from an interrupted step or undo. */
  #mayHoldMore = true;

  private constructor(options: IndexSyncOptions, placed: PlacedMarker) {
    this.#options = options;
    this.#placed = placed;
    this.#book = new PhraseBook(placed.marker.phrases);
  }

  /** Opens an index. Null: the index has no marker. Throws `search_engine_missing` if there is no index. */
  static async open(options: IndexSyncOptions): Promise<IndexSync | null> {
    const placed = await readMarker(options.elastic, options.index);
    return placed === null ? null : new IndexSync(options, placed);
  }

  get marker(): Marker {
    return this.#placed.marker;
  }

  /** Whether a marker is the marker that this process wrote or read last. */
  isAt({ place }: PlacedMarker): boolean {
    const own = this.#placed.place;
    return own?.seqNo === place?.seqNo && own?.primaryTerm === place?.primaryTerm;
  }

  /** Writes another state of the same marker. */
  async mark(changed: Partial<Pick<Marker, 'state' | 'isMerged'>>): Promise<void> {
    await this.#place({ ...this.marker, ...changed });
  }

  /**
   * Runs a step. Throws `search_engine_foreign` if the index cannot be updated to this chain, `search_engine_moved` if
   * another process writes into it, and the other codes of Elasticsearch and Postgres.
   */
  async step(): Promise<StepDone> {
    const { chain, keysMax, index } = this.#options;
    const position = await readPosition(chain, this.marker);
    if (position === null) return this.#done('nothing');
    const step = planStep(this.marker, position, keysMax);
    switch (step.kind) {
      case 'rebuild':
        throw new AppError('search_engine_foreign', `${index}: ${step.reason}.`, { index });
      case 'nothing':
        if (this.marker.state !== 'undoing') return this.#done('nothing');
        // an undo was interrupted, so finish it
        await this.#rewindTo(this.marker, position.lastSequence);
        return this.#done('rewound');
      case 'rewind':
        await this.#rewindTo(step.marker, position.lastSequence);
        return this.#done('rewound');
      case 'advance':
        return this.#advance(step.marker, position.lastSequence);
      default:
        return unreachable(step);
    }
  }

  async #advance(to: Marker, version: number): Promise<StepDone> {
    const from = this.marker;
    if (from.state === 'undoing' || !(await this.#isClean(version))) {
      await this.#rewindTo(from, version);
      return this.#done('rewound');
    }
    if (to.nextKey === from.nextKey) {
      await this.#place(to);
      return this.#done('advanced');
    }
    this.#mayHoldMore = true;
    const counts = await this.#write(from.nextKey, to, version);
    if (counts === null) return this.#done('again');
    if (to.state !== 'loading') await this.#verify(from.nextKey, to.nextKey, counts.findable);
    await this.#place(to);
    this.#mayHoldMore = false;
    return this.#done('advanced', to.nextKey - from.nextKey, counts);
  }

  /** Writes the documents of a step. All are read in one moment. Null: the block is no longer in the chain. */
  #write(from: number, to: Marker, version: number): Promise<(BulkCounts & { findable: number }) | null> {
    const { chain, elastic, index, signal, onRetry } = this.#options;
    const book = this.#book;
    const documents = async function* (): AsyncGenerator<SearchDocument> {
      for await (const group of readGroups(chain, from, to.nextKey)) {
        yield* documentsOf(group, version, book);
      }
    };
    return withTransaction(
      chain,
      async (tx) => {
        if (!(await isThere(tx, to))) return null;
        const findable = await countFindable(tx, from, to.nextKey);
        const counts = await bulkDocuments(elastic, index, documents(), {
          signal,
          ...(onRetry === undefined ? {} : { onRetry }),
        });
        if (counts.superseded > 0) throw newerThanOutbox(index, version);
        return { ...counts, findable };
      },
      readOnlyMoment,
    );
  }

  /** Makes a step visible. Checks that every inscription is present exactly once, before the marker covers the step. */
  async #verify(from: number, to: number, findable: number): Promise<void> {
    const { elastic, index } = this.#options;
    await refreshIndex(elastic, index);
    const counted = await countInscriptions(elastic, index, { from, to });
    if (counted === findable) return;
    // surplus documents are removed before the step is tried again
    throw new AppError(
      'search_engine_failed',
      `${index} has ${counted} of ${findable} inscriptions with keys from ${from} to below ${to}.`,
      { index, counted, findable },
    );
  }

  /**
   * Goes back. Readers are told before any document changes. Documents have copies from all blocks of a step. So if the
   * new end is inside a step, goes back to the start of the step and writes the step again.
   */
  async #rewindTo(to: Marker, version: number): Promise<void> {
    const { chain } = this.#options;
    let marker: Marker = { ...to, state: to.state === 'loading' ? 'loading' : 'undoing' };
    for (;;) {
      await this.#place(marker);
      const straddling = await this.#findStraddling();
      if (straddling === null) break;
      const block = await readBlockUpTo(chain, straddling, marker.sequence);
      marker = { ...marker, ...block, rewinds: marker.rewinds + 1 };
    }
    await this.#removeMore(version);
    if (marker.state === 'undoing') await this.#place({ ...marker, state: 'complete' });
  }

  async #findStraddling(): Promise<number | null> {
    const { elastic, index } = this.#options;
    await refreshIndex(elastic, index);
    return firstStraddlingKey(elastic, index, this.marker.nextKey);
  }

  /** Removes documents above the marker if this needs no rewind. Returns false if it needs one. */
  async #isClean(version: number): Promise<boolean> {
    if (!this.#mayHoldMore) return true;
    if ((await this.#findStraddling()) !== null) return false;
    await this.#removeMore(version);
    return true;
  }

  async #removeMore(version: number): Promise<void> {
    const { elastic, index, signal } = this.#options;
    await removeFrom(elastic, index, this.marker.nextKey, version, signal);
    this.#mayHoldMore = false;
  }

  async #place(marker: Marker): Promise<void> {
    const { elastic, index } = this.#options;
    this.#placed = await placeMarker(elastic, index, marker, this.#placed.place);
  }

  #done(kind: StepDone['kind'], keys = 0, counts?: BulkCounts): StepDone {
    return {
      kind,
      marker: this.marker,
      keys,
      documents: counts?.documents ?? 0,
      bytes: counts?.bytes ?? 0,
    };
  }
}
