import type { InscriptionId } from '#kernel/primitives/inscription-id.ts';
import type { Asker } from './asker.ts';
import type { Corpus, SearchFacets, SearchFilter, SearchSort, TextMatch, Tip } from './search-engine.ts';

/** A piece of a text around a match. */
export interface Highlight {
  /** The piece in its original form, not folded and without markup. */
  readonly text: string;
  /** Offset of the piece in the text, in UTF-16 units. */
  readonly offset: number;
  /**
   * The matches in the piece, ascending and without overlap. A match is from `start` to before `end`, in UTF-16 units
   * of the piece.
   */
  readonly matches: readonly { readonly start: number; readonly end: number }[];
}

/** An inscription in answers of searches. Every value is a string or null (interface 2.9). */
export interface SearchRecord {
  readonly txid: string;
  readonly inputindex: string;
  readonly inscriptionid: string;
  readonly inscriptionnumber: string | null;
  /** Null: pending. */
  readonly blockheight: string | null;
  /** The content as text. In lists, it is cut at a stated size (docs/search.md). */
  readonly contentstr: string | null;
  readonly contenttypestr: string | null;
  readonly contenthash: string | null;
  readonly contentlength: string | null;
  readonly metadatastr: string | null;
  /**
   * Time when the record was parsed, in ISO 8601. For a pending record, the time when the node first saw the record.
   */
  readonly createdat: string;
  /** Present if the inscription is in the mempool and in no indexed block. */
  readonly pending?: 'true';
  /**
   * Present if requested. There is one highlight per needle, in the order of the text. Overlapping highlights are
   * joined.
   */
  readonly highlights?: readonly Highlight[];
}

/** An inscription in the answer to a lookup. The record also has the owner's address and the complete body in hex. */
export interface LookupRecord extends SearchRecord {
  readonly owner: string | null;
  readonly content: string | null;
}

/** An answer, and the tip at which it was read. The tip is null if the index is empty. */
export interface Answer<Value> {
  readonly tip: Tip | null;
  readonly value: Value;
}

/** An answer that may include pending inscriptions. */
export interface PendingAnswer<Value> extends Answer<Value> {
  /**
   * A number that increases with every change of the mempool. `null` if pending matches were not requested, or if no
   * mempool is followed.
   */
  readonly mempoolRevision: number | null;
}

export interface RecordPage {
  readonly records: readonly SearchRecord[];
  /** Exact. */
  readonly totalItems: number;
  /** Number of the page, from 1. If a cursor was given, this is the page that the cursor leads to. */
  readonly page: number;
  /** Cursor of the next page. Present if a cursor was requested. `null` if this is the last page. */
  readonly nextCursor?: string | null;
  /**
   * Present if requested. `null` if counting would cost too much (more than a million matches), or if the index changed
   * during the search.
   */
  readonly facets?: SearchFacets | null;
}

export interface TextPage extends RecordPage {
  /** The needles of `text` that were searched, in their original form. For a search of words, the folded words. */
  readonly needles: readonly string[];
}

export interface Paging {
  /** Number of the page, from 1 to 2^31 - 1. A page past the end is empty. Ignored if a cursor is given. */
  readonly page: number;
  /** Number of items of a page, 1 to 1,000. */
  readonly itemsPerPage: number;
  /** Default `height`. */
  readonly sort?: SearchSort;
  /** Default `asc`. */
  readonly order?: 'asc' | 'desc';
  /** The cursor of an earlier page. If this is empty, the search begins at the start. Not allowed with `pending`. */
  readonly cursor?: string;
  readonly filter?: SearchFilter;
  /** Adds the matches in the mempool after all other matches. */
  readonly pending?: boolean;
  /** Also counts the matches by type and day. Matches in the mempool are not counted. */
  readonly facets?: boolean;
  /** The client of the search. Absent if no client could disconnect, or share its turn with other clients. */
  readonly asker?: Asker;
}

/** The text of a search, its scope and its kind of match. */
export interface TextQuestion {
  readonly corpus: Corpus;
  /** May be absent if the filter has metadata, a title, traits or a gallery. */
  readonly text?: string;
  /** Default `substring`. */
  readonly match?: TextMatch;
  /** Treats the complete `text` as one needle, including its commas. Only for substrings. */
  readonly phrase: boolean;
}

export interface TextSearch extends TextQuestion, Paging {
  /** Adds `highlights` to the records. A page then has at most 100 records. */
  readonly highlight?: boolean;
}

export interface HashSearch extends Paging {
  /** sha256 of the stored body or of the decoded body, 32 bytes. */
  readonly hash: Uint8Array;
}

/** The matches to count. */
export type FacetsQuestion = (TextQuestion | Pick<HashSearch, 'hash'>) & {
  readonly filter?: SearchFilter;
  readonly asker?: Asker;
};

/** Counts of matches. For a text, there are also the searched needles or words, as in `TextPage`. */
export interface CountedFacets extends Omit<SearchFacets, 'tip'> {
  readonly needles: readonly string[];
}

/** A word that a text could continue with. */
export interface SuggestedWord {
  /** Folded. */
  readonly word: string;
  /** Number of different contents in the sample that contain the word. */
  readonly contents: number;
}

export interface Suggestion {
  /** The text without the word that is being typed. */
  readonly before: string;
  /** Best first. */
  readonly words: readonly SuggestedWord[];
}

/** A hash, and the first inscription with the content that has this hash. `first` is null if the content is new. */
export interface FirstOfHash {
  readonly hash: Uint8Array;
  readonly first: SearchRecord | null;
}

/**
 * The searches that routes use. Each answer is read in one snapshot. Throws `search_text_invalid` if `text` cannot be
 * split into needles (the client sees the message), `search_too_broad` if the engine would have to read too much,
 * `cursor_stale` and `request_invalid` for a cursor, and `search_busy` if too many searches are running.
 */
export interface SearchService {
  textSearch(search: TextSearch): Promise<PendingAnswer<TextPage>>;
  hashSearch(search: HashSearch): Promise<PendingAnswer<RecordPage>>;
  facets(question: FacetsQuestion): Promise<Answer<CountedFacets>>;
  /**
   * Words that continue the last word of a text. They come from a sample. Empty if finding them would take long
   * (docs/search.md).
   */
  suggest(text: string, asker?: Asker): Promise<Answer<Suggestion>>;
  /** Answers up to 10,000 hashes, with one entry per hash in the requested order. */
  hashes(hashes: readonly Uint8Array[], asker?: Asker): Promise<Answer<readonly FirstOfHash[]>>;
  /**
   * The record of an inscription. `null` if the inscription is not indexed, and is also not pending if pending
   * inscriptions were requested.
   */
  inscription(
    id: InscriptionId,
    pending?: boolean,
    asker?: Asker,
  ): Promise<PendingAnswer<LookupRecord | null>>;
}
