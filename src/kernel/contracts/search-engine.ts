import type { PoolClient } from 'pg';
import type { BlockHash } from '#kernel/primitives/hash.ts';
import type { Height } from '#kernel/primitives/height.ts';
import type { InscriptionId } from '#kernel/primitives/inscription-id.ts';
import type { InscriptionKey } from '#kernel/primitives/inscription-key.ts';

/** Texts that are searched. They are contents of inscriptions, or canonical metadata texts. */
export type Corpus = 'content' | 'metadata';

export interface Tip {
  readonly height: Height;
  /** 32 bytes, internal order. */
  readonly hash: BlockHash;
  /** Number of undone blocks so far. The tip and this number together also show when a gap below the tip was filled. */
  readonly undoEpoch: number;
}

/** A read at one moment. It is an open REPEATABLE READ transaction and its tip, which is null if the index is empty. */
export interface Snapshot {
  readonly client: PoolClient;
  readonly tip: Tip | null;
  /**
   * A row with the columns of the engine's `opening`, read at the moment of the snapshot. Absent if it was not
   * requested.
   */
  readonly opening?: unknown;
  /** Aborted when the client no longer waits for the answer. */
  readonly signal?: AbortSignal;
}

/** How needles are searched (docs/search.md, "Needles" and "Words"). */
export type TextMatch = 'substring' | 'words' | 'fuzzy';

/**
 * Conditions on matching inscriptions. An absent condition is always true. Values are not folded; engines fold them.
 */
export interface SearchFilter {
  /**
   * An exact content type, or `image/*`. `image/*` means all types whose bytes up to the first slash are `image/`, even
   * if the type is not UTF-8.
   */
  readonly contentType?: string;
  /** Heights of the reveal. Both heights are included. */
  readonly from?: Height;
  readonly to?: Height;
  /**
   * Whether the inscription is cursed. If that is unknown, the inscription matches neither true nor false
   * (docs/adr/0026).
   */
  readonly cursed?: boolean;
  readonly metaprotocol?: string;
  /** A valid parent of the inscription. */
  readonly parent?: InscriptionId;
  /** A substring of the title in the inscription's properties (tag 17), folded. */
  readonly title?: string;
  /** Traits in the inscription's properties. All traits must match. Their names and values are complete and folded. */
  readonly traits?: readonly MetadataMember[];
  /** An inscription that the gallery (tag 17) of the matching inscription names. */
  readonly gallery?: InscriptionId;
  /**
   * A condition on the metadata at any depth. It is a key, a value, or a value under a key (or in a list under it),
   * complete and folded. Numbers are compared digit by digit. If a key is repeated (ADR 3), all its values are
   * compared.
   */
  readonly metadata?: { readonly key?: string; readonly value?: string };
}

export interface MetadataMember {
  readonly name: string;
  readonly value: string;
}

/**
 * Sort of the matches. `desc` is the exact reverse of `asc`.
 * - `height`: by the order of application, which also decides between equal matches in all other sorts.
 * - `number`: by ord's numbers. Matches with an unknown number are last.
 * - `length`: by the bytes of the stored body. Without a body it is 0.
 */
export type SearchSort = 'height' | 'number' | 'length';

/** The position of an inscription in every sort. */
export interface SearchPlace {
  /** Key of an inscription, which an undo may have deleted. */
  readonly key: number;
  /** The inscription's number. `null` if this number is unknown. */
  readonly number: number | null;
  readonly length: number;
}

/** The part of the matches to return, and its order. */
export interface SearchSlice {
  /** Default `height`. */
  readonly sort?: SearchSort;
  /** Default `asc`. */
  readonly order?: 'asc' | 'desc';
  /** Number of the page, from 1 to 2^31 - 1. If `after` is given, page 1 begins after it. */
  readonly page: number;
  /**
   * Number of items of a page, 1 to 1,001. One item more than a page shows is requested to know whether another page
   * follows.
   */
  readonly itemsPerPage: number;
  /** The slice begins after this position. `totalItems` still includes all matches. */
  readonly after?: SearchPlace;
}

export interface TextMatches {
  readonly corpus: Corpus;
  /** Default `substring`. */
  readonly match?: TextMatch;
  /**
   * Folded needles (kernel/text/fold.ts). All of them must occur. For `substring`, there are 1 to 32 needles of 1 to
   * 1,000 code points. There may be no needles if the filter has metadata, a title, traits or a gallery; then only the
   * filter decides. For all other kinds of match, there are 1 to 64 words, as made by `wordsOf` (search/text/words.ts).
   */
  readonly needles: readonly string[];
  readonly filter?: SearchFilter;
}

export interface HashMatches {
  /** sha256 of the stored body or of the decoded body, 32 bytes. */
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
  /** The tip at which the answer was read. */
  readonly tip: Tip | null;
}

/** Exact numbers of matches by kind. The numbers of each kind add up to `totalItems`. */
export interface SearchFacets {
  readonly totalItems: number;
  /**
   * Matches by exact content type. Types with the most matches come first, then null, then types by code points. There
   * are at most `facetTypesMax` types. A type is null if the inscription has no type, or if its type is not UTF-8.
   * Types of more than 512 bytes, UTF-8 or not, are counted in `otherTypes`.
   */
  readonly types: readonly { readonly contentType: string | null; readonly count: number }[];
  /** Number of matches of all types that are not listed. */
  readonly otherTypes: number;
  /** Matches by the day (UTC, days since 1970) of the block's time, ascending. Days without matches are absent. */
  readonly days: readonly { readonly day: number; readonly count: number }[];
  /** The tip at which the answer was read. */
  readonly tip: Tip | null;
}

/** Maximum number of listed types. A longer list would not be an overview. */
export const facetTypesMax = 50;

/**
 * Exact searches over inscriptions. docs/search.md has the rules. An engine on Postgres reads the given snapshot. Other
 * engines name the moment of their answer with `tip`. Throws `search_too_broad` if it would have to read more than
 * allowed (on Postgres, if too many texts could contain the words, fuzzy words or metadata terms). The conformance
 * suite compares engines with a naive scan (test/support/search/search-engine-conformance.ts).
 */
export interface SearchEngine {
  readonly name: string;
  /**
   * A statement without parameters that returns one row for each snapshot. It is sent with the statement that opens the
   * snapshot, so it needs no additional round trip. Absent if the engine needs no such row.
   */
  readonly opening?: string;
  searchText(snapshot: Snapshot, query: TextQuery): Promise<SearchHits>;
  searchHash(snapshot: Snapshot, query: HashQuery): Promise<SearchHits>;
  facetsOfText(snapshot: Snapshot, matches: TextMatches): Promise<SearchFacets>;
  facetsOfHash(snapshot: Snapshot, matches: HashMatches): Promise<SearchFacets>;
  close(): Promise<void>;
}
