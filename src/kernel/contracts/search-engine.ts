import type { PoolClient } from 'pg';
import type { BlockHash } from '#kernel/primitives/hash.ts';
import type { Height } from '#kernel/primitives/height.ts';
import type { InscriptionId } from '#kernel/primitives/inscription-id.ts';
import type { InscriptionKey } from '#kernel/primitives/inscription-key.ts';

/** The searched texts: contents of inscriptions, or canonical metadata texts. */
export type Corpus = 'content' | 'metadata';

export interface Tip {
  readonly height: Height;
  /** 32 bytes, internal order. */
  readonly hash: BlockHash;
  /** Number of undone blocks so far. With the tip it also shows when a gap below the tip was filled. */
  readonly undoEpoch: number;
}

/** A read of one moment: an open REPEATABLE READ transaction, and its tip (null: the index is empty). */
export interface Snapshot {
  readonly client: PoolClient;
  readonly tip: Tip | null;
  /** A row with the columns of the engine's `opening`, in the moment of the snapshot. Absent: not requested. */
  readonly opening?: unknown;
  /** Aborted when the client no longer waits for the answer. */
  readonly signal?: AbortSignal;
}

/** How needles are searched (docs/search.md, "Needles" and "Words"). */
export type TextMatch = 'substring' | 'words' | 'fuzzy';

/** Conditions on matching inscriptions. An absent condition is always true. Values are as given; engines fold them. */
export interface SearchFilter {
  /** An exact content type, or `image/*`: all types whose bytes up to the first slash are `image/`, UTF-8 or not. */
  readonly contentType?: string;
  /** Heights of the reveal, both included. */
  readonly from?: Height;
  readonly to?: Height;
  /** Whether it is cursed. If that is unknown, an inscription matches neither value (docs/adr/0026). */
  readonly cursed?: boolean;
  readonly metaprotocol?: string;
  /** One of its valid parents. */
  readonly parent?: InscriptionId;
  /** A substring of the title of its properties (tag 17), folded. */
  readonly title?: string;
  /** Traits of its properties: all must match; names and values are whole and folded. */
  readonly traits?: readonly MetadataMember[];
  /** An inscription that its gallery (tag 17) names. */
  readonly gallery?: InscriptionId;
  /**
   * A condition on the metadata at any depth: a key, a value, or a value under a key (or in a list under it); whole and
   * folded. Numbers are compared digit by digit. Repeated keys (ADR 3) all count.
   */
  readonly metadata?: { readonly key?: string; readonly value?: string };
}

export interface MetadataMember {
  readonly name: string;
  readonly value: string;
}

/**
 * `height`: the order of application, and the tie-breaker of every other sort. `number`: ord's numbers, unknown ones
 * last. `length`: bytes of the stored body, 0 without a body. `desc` is the exact reverse of `asc`.
 */
export type SearchSort = 'height' | 'number' | 'length';

/** The position of an inscription in every sort. */
export interface SearchPlace {
  /** Key of an inscription, which an undo may have deleted. */
  readonly key: number;
  /** Null: its number is unknown. */
  readonly number: number | null;
  readonly length: number;
}

/** The part of the matches to return, and its order. */
export interface SearchSlice {
  /** Default `height`. */
  readonly sort?: SearchSort;
  /** Default `asc`. */
  readonly order?: 'asc' | 'desc';
  /** 1-based, up to 2^31 - 1. Counts from `after` on, if given. */
  readonly page: number;
  /** 1 to 1,001: one more than a page has shows whether another page follows. */
  readonly itemsPerPage: number;
  /** The slice begins after this position. `totalItems` still includes all matches. */
  readonly after?: SearchPlace;
}

export interface TextMatches {
  readonly corpus: Corpus;
  /** Default `substring`. */
  readonly match?: TextMatch;
  /**
   * Folded (kernel/text/fold.ts); all must occur. `substring`: 1 to 32 needles of 1 to 1,000 code points, or none if
   * the filter has metadata, a title, traits or a gallery: then the filter alone decides. Otherwise 1 to 64 words, as
   * `wordsOf` (search/text/words.ts) makes them.
   */
  readonly needles: readonly string[];
  readonly filter?: SearchFilter;
}

export interface HashMatches {
  /** sha256 of the stored or the decoded body, 32 bytes. */
  readonly hash: Uint8Array;
  readonly filter?: SearchFilter;
}

export type TextQuery = TextMatches & SearchSlice;
export type HashQuery = HashMatches & SearchSlice;

export interface SearchHits {
  /** Internal keys of the inscriptions of this page, in the requested order. */
  readonly keys: readonly InscriptionKey[];
  /** The exact number of matches. */
  readonly totalItems: number;
  /** The tip of the answer. */
  readonly tip: Tip | null;
}

/** Exact numbers of matches by kind. They add up to `totalItems`. */
export interface SearchFacets {
  readonly totalItems: number;
  /**
   * Matches by exact content type: most matches first, then null, then by code points; at most `facetTypesMax`. Null:
   * no type, or not UTF-8. Types of more than 512 bytes, UTF-8 or not, are counted in `otherTypes`.
   */
  readonly types: readonly { readonly contentType: string | null; readonly count: number }[];
  /** Number of matches of all types that are not listed. */
  readonly otherTypes: number;
  /** Matches by the day (UTC, days since 1970) of the block's time, ascending, without empty days. */
  readonly days: readonly { readonly day: number; readonly count: number }[];
  /** The tip of the answer. */
  readonly tip: Tip | null;
}

/** Maximum number of listed types. A longer list would be no overview. */
export const facetTypesMax = 50;

/**
 * Exact searches over inscriptions. Rules: docs/search.md. An engine on Postgres reads the given snapshot; others name
 * the moment of their answer with `tip`. Throws `search_too_broad` if it would have to read more than it may (on
 * Postgres: words, fuzzy words and metadata terms that too many texts could have). Conformance suite against a naive
 * scan: test/support/search/search-engine-conformance.ts.
 */
export interface SearchEngine {
  readonly name: string;
  /**
   * A statement without parameters that gives one row of each snapshot. It is sent with the statement that opens the
   * snapshot, so it costs no round trip. Absent: the engine needs no such row.
   */
  readonly opening?: string;
  searchText(snapshot: Snapshot, query: TextQuery): Promise<SearchHits>;
  searchHash(snapshot: Snapshot, query: HashQuery): Promise<SearchHits>;
  facetsOfText(snapshot: Snapshot, matches: TextMatches): Promise<SearchFacets>;
  facetsOfHash(snapshot: Snapshot, matches: HashMatches): Promise<SearchFacets>;
  close(): Promise<void>;
}
