import type { InscriptionId } from '#kernel/primitives/inscription-id.ts';
import type { Corpus, SearchFacets, SearchFilter, SearchSort, TextMatch, Tip } from './search-engine.ts';

/** A piece of a text around something that was found in it. */
export interface Highlight {
  /** The piece as it stands in the text: not folded, no markup. */
  readonly text: string;
  /** Where the piece begins in the whole text, in UTF-16 units. */
  readonly offset: number;
  /** What of the piece was found, from `start` to before `end` in its UTF-16 units; ascending, without overlap. */
  readonly matches: readonly { readonly start: number; readonly end: number }[];
}

/** One inscription as searches answer it: every value is a string, null where there is none (interface 2.9). */
export interface SearchRecord {
  readonly txid: string;
  readonly inputindex: string;
  readonly inscriptionid: string;
  readonly inscriptionnumber: string | null;
  /** Null: pending. */
  readonly blockheight: string | null;
  /** Cut at a stated size in lists (docs/search.md). */
  readonly contentstr: string | null;
  readonly contenttypestr: string | null;
  readonly contenthash: string | null;
  readonly contentlength: string | null;
  readonly metadatastr: string | null;
  /** ISO 8601, when the record was parsed; of a pending one, when the node saw it first. */
  readonly createdat: string;
  /** There where it is in the mempool and in no indexed block. */
  readonly pending?: 'true';
  /** There where it was asked for: one for each needle, those that overlap joined, in the order of the text. */
  readonly highlights?: readonly Highlight[];
}

/** A lookup adds the owner's address and the whole body in hex. */
export interface LookupRecord extends SearchRecord {
  readonly owner: string | null;
  readonly content: string | null;
}

/** An answer and the tip of which it speaks (null: nothing is indexed). */
export interface Answer<Value> {
  readonly tip: Tip | null;
  readonly value: Value;
}

/** An answer that may speak of pending inscriptions too. */
export interface PendingAnswer<Value> extends Answer<Value> {
  /** Grows with every change of what is pending; null: that was not asked for, or nobody follows a mempool. */
  readonly mempoolRevision: number | null;
}

export interface RecordPage {
  readonly records: readonly SearchRecord[];
  /** Exact. */
  readonly totalItems: number;
  /** 1-based; of a search by cursor the page that it leads to. */
  readonly page: number;
  /** There where a cursor was asked for: leads to the next page; null: there is none. */
  readonly nextCursor?: string | null;
  /** There where they were asked for; null: they would cost too much (matches above a million), or the index went on meanwhile. */
  readonly facets?: SearchFacets | null;
}

export interface TextPage extends RecordPage {
  /** What was looked for: the needles that `text` was split into as they were given, or its words, folded. */
  readonly needles: readonly string[];
}

export interface Paging {
  /** 1-based, up to 2^31 - 1; past the end is an empty page. Ignored where there is a cursor. */
  readonly page: number;
  /** 1 to 1,000. */
  readonly itemsPerPage: number;
  /** Default `height`. */
  readonly sort?: SearchSort;
  /** Default `asc`. */
  readonly order?: 'asc' | 'desc';
  /** As a page before gave it; empty: from the start. Not with `pending`. */
  readonly cursor?: string;
  readonly filter?: SearchFilter;
  /** Adds the matches of the mempool, behind all others. */
  readonly pending?: boolean;
  /** Counts the matches by type and day too; not those of the mempool. */
  readonly facets?: boolean;
  /** Aborted: nobody waits for the answer any more. */
  readonly signal?: AbortSignal;
}

/** What a text is looked for in, and how. */
export interface TextQuestion {
  readonly corpus: Corpus;
  /** May be missing where the filter asks for metadata, a title, traits or a gallery. */
  readonly text?: string;
  /** Default `substring`. */
  readonly match?: TextMatch;
  /** The whole of `text` is one needle, commas included. Substrings alone. */
  readonly phrase: boolean;
}

export interface TextSearch extends TextQuestion, Paging {
  /** Adds `highlights` to the records: at most 100 a page. */
  readonly highlight?: boolean;
}

export interface HashSearch extends Paging {
  /** sha256 of the stored or of the decoded body, 32 bytes. */
  readonly hash: Uint8Array;
}

/** Which matches are counted. */
export type FacetsQuestion = (TextQuestion | Pick<HashSearch, 'hash'>) & {
  readonly filter?: SearchFilter;
  readonly signal?: AbortSignal;
};

/** Of a text with what was looked for, as `TextPage` tells it. */
export interface CountedFacets extends Omit<SearchFacets, 'tip'> {
  readonly needles: readonly string[];
}

/** A word that a text could go on with. */
export interface SuggestedWord {
  /** Folded. */
  readonly word: string;
  /** Distinct contents of the sample that have it. */
  readonly contents: number;
}

export interface Suggestion {
  /** The text without the word that is being typed. */
  readonly before: string;
  /** Best first. */
  readonly words: readonly SuggestedWord[];
}

/** A hash and the first inscription of that content; null: it is new. */
export interface FirstOfHash {
  readonly hash: Uint8Array;
  readonly first: SearchRecord | null;
}

/**
 * What the routes of searches ask. Each answer is read in one snapshot.
 * Throws `search_text_invalid` where `text` cannot be split into needles (its message is shown to the client),
 * `search_too_broad` where the engine would have to read too much, `cursor_stale` and `request_invalid` for a cursor, and
 * `search_busy` where more searches are under way than are taken on.
 */
export interface SearchService {
  textSearch(search: TextSearch): Promise<PendingAnswer<TextPage>>;
  hashSearch(search: HashSearch): Promise<PendingAnswer<RecordPage>>;
  facets(question: FacetsQuestion): Promise<Answer<CountedFacets>>;
  /** Words that go on with the last one of a text; a sample, and none where it would take long (docs/search.md). */
  suggest(text: string, signal?: AbortSignal): Promise<Answer<Suggestion>>;
  /** In the order asked, one entry a hash; up to 10,000. */
  hashes(hashes: readonly Uint8Array[], signal?: AbortSignal): Promise<Answer<readonly FirstOfHash[]>>;
  /** Null: not indexed, and not pending where that was asked for. */
  inscription(id: InscriptionId, pending?: boolean): Promise<PendingAnswer<LookupRecord | null>>;
}
