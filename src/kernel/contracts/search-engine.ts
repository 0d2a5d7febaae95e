import type { PoolClient } from 'pg';
import type { InscriptionId } from '#kernel/primitives/inscription-id.ts';

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
  /** Aborted when nobody waits for the answer any more. */
  readonly signal?: AbortSignal;
}

/** How needles are looked for (docs/search.md, "Needles" and "Words"). */
export type TextMatch = 'substring' | 'words' | 'fuzzy';

/**
 * What of the inscriptions that match is asked for; what is absent does not matter. Values are as they were given: engines
 * fold them.
 */
export interface SearchFilter {
  /** A content type to the letter, or `image/*`: all whose bytes up to the first slash are `image/`, no UTF-8 or not. */
  readonly contentType?: string;
  /** Heights of the reveal, both included. */
  readonly from?: number;
  readonly to?: number;
  /** Whether its number is below 0; those whose number is not known are neither. */
  readonly cursed?: boolean;
  readonly metaprotocol?: string;
  /** One of its parents that hold. */
  readonly parent?: InscriptionId;
  /** A piece of the title of its properties (tag 17), folded. */
  readonly title?: string;
  /** Traits of its properties, all of them; names and values whole and folded. */
  readonly traits?: readonly MetadataMember[];
  /** An inscription that its gallery (tag 17) names. */
  readonly gallery?: InscriptionId;
  /**
   * What its metadata have at any depth: a key, a value, or a value under a key (or in a list under it); whole and folded.
   * Numbers are their digits. Keys that come twice (ADR 3) count both.
   */
  readonly metadata?: { readonly key?: string; readonly value?: string };
}

export interface MetadataMember {
  readonly name: string;
  readonly value: string;
}

/**
 * `height`: the order of application, which every other sort falls back to. `number`: ord's numbers, those that are not known last.
 * `length`: bytes of the stored body, 0 without one. `desc` is exactly the reverse of `asc`.
 */
export type SearchSort = 'height' | 'number' | 'length';

/** Where an inscription stands in every sort. */
export interface SearchPlace {
  readonly key: number;
  /** Null: its number is not known. */
  readonly number: number | null;
  readonly length: number;
}

/** Which of the matches, in which order. */
export interface SearchSlice {
  /** Default `height`. */
  readonly sort?: SearchSort;
  /** Default `asc`. */
  readonly order?: 'asc' | 'desc';
  /** 1-based, up to 2^31 - 1. Counted from `after` on, where that is given. */
  readonly page: number;
  /** 1 to 1,001: one more than a page says whether there is another one. */
  readonly itemsPerPage: number;
  /** The slice begins behind this place; `totalItems` still counts all. */
  readonly after?: SearchPlace;
}

export interface TextMatches {
  readonly corpus: Corpus;
  /** Default `substring`. */
  readonly match?: TextMatch;
  /**
   * Folded (kernel/text/fold.ts); all must occur. `substring`: 1 to 32 needles of 1 to 1,000 code points, or none where
   * the filter asks for metadata, a title, traits or a gallery: then all that it asks for match, with a text or without. Otherwise words as `wordsOf` (search/text/words.ts) makes them, 1 to 64.
   */
  readonly needles: readonly string[];
  readonly filter?: SearchFilter;
}

export interface HashMatches {
  /** sha256 of the stored or of the decoded body, 32 bytes. */
  readonly hash: Uint8Array;
  readonly filter?: SearchFilter;
}

export type TextQuery = TextMatches & SearchSlice;
export type HashQuery = HashMatches & SearchSlice;

export interface SearchHits {
  /** Internal keys of the inscriptions of this page, in the order asked. */
  readonly keys: readonly number[];
  /** Exact. */
  readonly totalItems: number;
  /** The tip of which the answer speaks. */
  readonly tip: Tip | null;
}

/** How many matches there are of what kind. Exact, and sums of `totalItems`. */
export interface SearchFacets {
  readonly totalItems: number;
  /**
   * By content type to the letter, most first, then null, then by code points; `facetTypesMax` at most. Null: without one, or no UTF-8.
   * Types of more than 512 bytes, UTF-8 or not, are counted in `otherTypes`.
   */
  readonly types: readonly { readonly contentType: string | null; readonly count: number }[];
  /** Matches of all types that are not listed. */
  readonly otherTypes: number;
  /** By the day (UTC, days since 1970) of the block's time; ascending, without days that have none. */
  readonly days: readonly { readonly day: number; readonly count: number }[];
  /** The tip of which the answer speaks. */
  readonly tip: Tip | null;
}

/** More are nobody's overview. */
export const facetTypesMax = 50;

/**
 * Exact searches over inscriptions. Rules: docs/search.md. Engines that answer from Postgres read in the
 * snapshot they are given, others say by `tip` of which moment they speak.
 * Throws `search_too_broad` where it would have to read more than it may (Postgres: words, fuzzy and metadata terms that too many
 * texts could have).
 * Conformance suite: test/support/search/search-engine-conformance.ts, against a naive scan.
 */
export interface SearchEngine {
  readonly name: string;
  searchText(snapshot: Snapshot, query: TextQuery): Promise<SearchHits>;
  searchHash(snapshot: Snapshot, query: HashQuery): Promise<SearchHits>;
  facetsOfText(snapshot: Snapshot, matches: TextMatches): Promise<SearchFacets>;
  facetsOfHash(snapshot: Snapshot, matches: HashMatches): Promise<SearchFacets>;
  close(): Promise<void>;
}
