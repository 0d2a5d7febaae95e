import type { PoolClient } from 'pg';

/** What is searched: inscription contents, or canonical metadata texts. */
export type Corpus = 'content' | 'metadata';

export interface Tip {
  readonly height: number;
  /** 32 bytes, internal order. */
  readonly hash: Uint8Array;
  /** How often blocks were taken back: a gap below the tip is filled without a change of the tip itself. */
  readonly undoEpoch: number;
}

/** A read of one moment: an open REPEATABLE READ transaction and the tip that it sees (null: nothing indexed). */
export interface Snapshot {
  readonly client: PoolClient;
  readonly tip: Tip | null;
}

export interface TextQuery {
  readonly corpus: Corpus;
  /** 1 to 32 needles, each 1 to 1,000 code points, folded (kernel/text/fold.ts); all must occur. */
  readonly needles: readonly string[];
  /** 1-based, up to 2^31 - 1. */
  readonly page: number;
  /** 1 to 1,000. */
  readonly itemsPerPage: number;
}

export interface HashQuery {
  /** sha256 of the stored or of the decoded body, 32 bytes. */
  readonly hash: Uint8Array;
  readonly page: number;
  readonly itemsPerPage: number;
}

export interface SearchHits {
  /** Internal keys of the inscriptions of this page, in the order of application. */
  readonly keys: readonly number[];
  /** Exact. */
  readonly totalItems: number;
  /** The tip of which the answer speaks. */
  readonly tip: Tip | null;
}

/**
 * Exact searches over inscriptions. Rules: docs/search.md. Engines that answer from Postgres read in the
 * snapshot they are given, others say by `tip` of which moment they speak.
 * Conformance suite: test/support/search-engine-conformance.ts, against a naive scan.
 */
export interface SearchEngine {
  readonly name: string;
  searchText(snapshot: Snapshot, query: TextQuery): Promise<SearchHits>;
  searchHash(snapshot: Snapshot, query: HashQuery): Promise<SearchHits>;
  close(): Promise<void>;
}
