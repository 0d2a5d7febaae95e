import type pg from 'pg';
import { AppError } from '#kernel/errors/app-error.ts';
import { withTransaction } from '#kernel/pg/transaction.ts';
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
  /** The index itself, not an alias of it. */
  readonly index: string;
  /** Reads the chain. It holds the lock that lets this process write into the index, and is used by nobody else. */
  readonly chain: pg.ClientBase;
  readonly signal: AbortSignal;
  /** Inscriptions of a step at most, but for a block that has more. */
  readonly keysMax: number;
  /** Told of failures of Elasticsearch that are waited for, and tried again. */
  readonly onRetry?: (error: AppError) => void;
}

/** What a step did; null: there was nothing to do, or the chain went on meanwhile and has to be looked at again. */
export interface StepDone {
  readonly kind: 'advanced' | 'rewound' | 'nothing' | 'again';
  readonly marker: Marker;
  /** Inscriptions of the step. */
  readonly keys: number;
  readonly documents: number;
  readonly bytes: number;
}

/**
 * Brings one index to the chain, a step at a time. What it knows of the index is its marker alone; after anything that failed
 * a new one has to be made. The first step takes away what earlier steps have left that were cut off.
 */
export class IndexSync {
  private readonly options: IndexSyncOptions;
  private readonly book: PhraseBook;
  private placed: PlacedMarker;
  /** Documents may be there that the marker does not speak of: of a step, or of a way back, that was cut off. */
  private mayHoldMore = true;

  private constructor(options: IndexSyncOptions, placed: PlacedMarker) {
    this.options = options;
    this.placed = placed;
    this.book = new PhraseBook(placed.marker.phrases);
  }

  /** Null: the index has no marker. Throws `search_engine_missing` where there is no index. */
  static async open(options: IndexSyncOptions): Promise<IndexSync | null> {
    const placed = await readMarker(options.elastic, options.index);
    return placed === null ? null : new IndexSync(options, placed);
  }

  get marker(): Marker {
    return this.placed.marker;
  }

  /** Whether a marker that was read is the one that this process wrote or read last. */
  isAt({ place }: PlacedMarker): boolean {
    const own = this.placed.place;
    return own?.seqNo === place?.seqNo && own?.primaryTerm === place?.primaryTerm;
  }

  /** Writes another state of what is there. */
  async mark(changed: Partial<Pick<Marker, 'state' | 'isMerged'>>): Promise<void> {
    await this.place({ ...this.marker, ...changed });
  }

  /**
   * Throws `search_engine_foreign` where the index cannot become one of this chain, `search_engine_moved` where another process
   * writes into it, and the other codes of Elasticsearch and Postgres.
   */
  async step(): Promise<StepDone> {
    const { chain, keysMax, index } = this.options;
    const position = await readPosition(chain, this.marker);
    if (position === null) return this.done('nothing');
    const step = planStep(this.marker, position, keysMax);
    switch (step.kind) {
      case 'rebuild':
        throw new AppError('search_engine_foreign', `${index}: ${step.reason}.`, { index });
      case 'nothing':
        if (this.marker.state !== 'undoing') return this.done('nothing');
        // cut off in the middle of going back
        await this.rewindTo(this.marker, position.lastSequence);
        return this.done('rewound');
      case 'rewind':
        await this.rewindTo(step.marker, position.lastSequence);
        return this.done('rewound');
      case 'advance':
        return this.advance(step.marker, position.lastSequence);
    }
  }

  private async advance(to: Marker, version: number): Promise<StepDone> {
    const from = this.marker;
    if (from.state === 'undoing' || !(await this.isClean(version))) {
      await this.rewindTo(from, version);
      return this.done('rewound');
    }
    if (to.nextKey === from.nextKey) {
      await this.place(to);
      return this.done('advanced');
    }
    this.mayHoldMore = true;
    const counts = await this.write(from.nextKey, to, version);
    if (counts === null) return this.done('again');
    if (to.state !== 'loading') await this.verify(from.nextKey, to.nextKey, counts.findable);
    await this.place(to);
    this.mayHoldMore = false;
    return this.done('advanced', to.nextKey - from.nextKey, counts);
  }

  /** Writes the documents of a step, read in one moment. Null: the block is not in the chain any more, or is another one. */
  private write(
    from: number,
    to: Marker,
    version: number,
  ): Promise<(BulkCounts & { findable: number }) | null> {
    const { chain, elastic, index, signal, onRetry } = this.options;
    const { book } = this;
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

  /** Makes a step visible, and checks that it is there whole and once before a marker says so. */
  private async verify(from: number, to: number, findable: number): Promise<void> {
    const { elastic, index } = this.options;
    await refreshIndex(elastic, index);
    const counted = await countInscriptions(elastic, index, { from, to });
    if (counted === findable) return;
    // what is there too much is taken away before the step is tried again
    throw new AppError(
      'search_engine_failed',
      `${index} holds ${counted} of ${findable} inscriptions with keys from ${from} to below ${to}.`,
      { index, counted, findable },
    );
  }

  /**
   * Goes back. Readers are told before a document is changed. Documents hold copies of all blocks of a step, so where the new
   * end lies within a step it is taken back to its start, and brought in again.
   */
  private async rewindTo(to: Marker, version: number): Promise<void> {
    const { chain } = this.options;
    let marker: Marker = { ...to, state: to.state === 'loading' ? 'loading' : 'undoing' };
    for (;;) {
      await this.place(marker);
      const straddling = await this.findStraddling();
      if (straddling === null) break;
      const block = await readBlockUpTo(chain, straddling, marker.sequence);
      marker = { ...marker, ...block, rewinds: marker.rewinds + 1 };
    }
    await this.removeMore(version);
    if (marker.state === 'undoing') await this.place({ ...marker, state: 'complete' });
  }

  private async findStraddling(): Promise<number | null> {
    const { elastic, index } = this.options;
    await refreshIndex(elastic, index);
    return firstStraddlingKey(elastic, index, this.marker.nextKey);
  }

  /** Takes away what the marker does not speak of, where that can be done without going back; false: it cannot. */
  private async isClean(version: number): Promise<boolean> {
    if (!this.mayHoldMore) return true;
    if ((await this.findStraddling()) !== null) return false;
    await this.removeMore(version);
    return true;
  }

  private async removeMore(version: number): Promise<void> {
    const { elastic, index, signal } = this.options;
    await removeFrom(elastic, index, this.marker.nextKey, version, signal);
    this.mayHoldMore = false;
  }

  private async place(marker: Marker): Promise<void> {
    const { elastic, index } = this.options;
    this.placed = await placeMarker(elastic, index, marker, this.placed.place);
  }

  private done(kind: StepDone['kind'], keys = 0, counts?: BulkCounts): StepDone {
    return {
      kind,
      marker: this.marker,
      keys,
      documents: counts?.documents ?? 0,
      bytes: counts?.bytes ?? 0,
    };
  }
}
