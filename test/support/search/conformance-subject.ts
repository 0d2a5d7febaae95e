import type pg from 'pg';
import { expect } from 'vitest';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import type {
  Corpus,
  HashMatches,
  SearchEngine,
  SearchSlice,
  Snapshot,
  TextMatches,
  Tip,
} from '#kernel/contracts/search-engine.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { foldText } from '#kernel/text/fold.ts';
import { wordsOf } from '#search/text/words.ts';
import { type NaiveQuestion, naiveFacets, naiveSearch } from './naive-search.ts';
import type { SearchRows, StoredInscription, TestInscription } from './search-rows.ts';

/** Links the committed rows to the engine's own index of the rows. */
export interface EngineUnderTest {
  readonly engine: SearchEngine;
  /**
   * Whether the engine has its own copy that follows the chain. Until this copy is complete, it answers exactly for a
   * lower block, or refuses with `search_engine_behind`.
   */
  readonly isFollower?: boolean;
  /** Indexes everything that is committed. */
  takeUp(): Promise<void>;
  /** The hook that runs with an undo. */
  readonly forget: Parameters<SearchRows['undoAbove']>[1];
  close(): Promise<void>;
}

/** Converts a query into the form that engines expect: folded, or as words. */
function engineMatches(question: NaiveQuestion): TextMatches | HashMatches {
  const filter = question.filter === undefined ? {} : { filter: question.filter };
  if ('hash' in question) return { hash: question.hash, ...filter };
  const { corpus, match, needles } = question;
  const words = [...new Set(needles.flatMap(wordsOf))];
  return { corpus, match, needles: match === 'substring' ? needles.map(foldText) : words, ...filter };
}

/** An engine, its rows, and queries whose results must equal those of a scan. */
export class ConformanceSubject {
  readonly rows: SearchRows;
  readonly pool: pg.Pool;
  readonly #subject: EngineUnderTest;
  #isTakenUp = false;

  constructor(pool: pg.Pool, rows: SearchRows, subject: EngineUnderTest) {
    this.pool = pool;
    this.rows = rows;
    this.#subject = subject;
  }

  get engine(): SearchEngine {
    return this.#subject.engine;
  }

  async takeUp(): Promise<void> {
    await this.#subject.takeUp();
    this.#isTakenUp = true;
  }

  async clear(): Promise<void> {
    this.#isTakenUp = false;
    await this.rows.clear();
  }

  async addBlock(block: readonly TestInscription[], time?: number): Promise<void> {
    this.#isTakenUp = false;
    await this.rows.addBlock(block, time);
  }

  async undoAbove(height: number): Promise<void> {
    this.#isTakenUp = false;
    await this.rows.undoAbove(height, this.#subject.forget);
  }

  async close(): Promise<void> {
    await this.#subject.close();
  }

  /**
   * Sends a query. Returns the result and the inscriptions that it covers; `null` if the engine refuses, which a copy
   * may do while it is behind.
   */
  async #answer<T extends { tip: Tip | null }>(
    ask: (snapshot: Snapshot) => Promise<T>,
  ): Promise<{ found: T; inscriptions: readonly StoredInscription[] } | null> {
    const { isFollower = false } = this.#subject;
    const found = await withSnapshot(this.pool, ask, null, this.engine.opening).catch((error: unknown) => {
      const mayRefuse = isFollower && !this.#isTakenUp;
      if (mayRefuse && error instanceof AppError && error.code === 'search_engine_behind') return null;
      throw error;
    });
    if (found === null) return null;
    const height = found.tip?.height ?? -1;
    if (!isFollower || this.#isTakenUp) expect(height).toBe(this.rows.height);
    return { found, inscriptions: this.rows.inscriptions.filter((one) => one.height <= height) };
  }

  /** Checks that a page of a query's matches equals the scan's page. */
  async expectPage(question: NaiveQuestion, slice: SearchSlice): Promise<void> {
    const matches = engineMatches(question);
    const answer = await this.#answer((snapshot) =>
      'hash' in matches
        ? this.engine.searchHash(snapshot, { ...matches, ...slice })
        : this.engine.searchText(snapshot, { ...matches, ...slice }),
    );
    if (answer === null) return;
    const { keys, totalItems } = answer.found;
    const naive = naiveSearch(answer.inscriptions, question, slice);
    expect({ question, slice, keys, totalItems }).toEqual({ question, slice, ...naive });
  }

  /** Checks that the counts of a query equal the scan's counts. */
  async expectFacets(question: NaiveQuestion): Promise<void> {
    const matches = engineMatches(question);
    const answer = await this.#answer((snapshot) =>
      'hash' in matches
        ? this.engine.facetsOfHash(snapshot, matches)
        : this.engine.facetsOfText(snapshot, matches),
    );
    if (answer === null) return;
    const { tip: _, ...facets } = answer.found;
    expect({ question, ...facets }).toEqual({ question, ...naiveFacets(answer.inscriptions, question) });
  }

  expectNaive(corpus: Corpus, needles: readonly string[], page = 1, itemsPerPage = 1000): Promise<void> {
    return this.expectPage({ corpus, match: 'substring', needles }, { page, itemsPerPage });
  }

  expectNaiveHash(hash: Uint8Array, page = 1, itemsPerPage = 1000): Promise<void> {
    return this.expectPage({ hash }, { page, itemsPerPage });
  }
}
