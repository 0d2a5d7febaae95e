import type { InscriptionId } from '#kernel/primitives/inscription-id.ts';
import type { Asker } from './asker.ts';
import type { Corpus, SearchFacets, SearchFilter, SearchSort, TextMatch, Tip } from './search-engine.ts';

/** A piece of a text around a match. */
export interface Highlight {
  /** The piece as written: not folded, no markup. */
  readonly text: string;
  /** Offset of the piece in the whole text, in UTF-16 units. */
  readonly offset: number;
  /** The matches in the piece, from `start` to before `end` in its UTF-16 units; ascending, without overlap. */
  readonly matches: readonly { readonly start: number; readonly end: number }[];
}

/** An inscription in answers of searches: every value is a string, or null (interface 2.9). */
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
  /** ISO 8601: when the record was parsed; for a pending one, when the node first saw it. */
  readonly createdat: string;
  /** Present if the inscription is in the mempool and in no indexed block. */
  readonly pending?: 'true';
  /** Present if requested: one per needle, overlapping ones joined, in the order of the text. */
  readonly highlights?: readonly Highlight[];
}

/** A look-up adds the owner's address and the whole body in hex. */
export interface LookupRecord extends SearchRecord {
  readonly owner: string | null;
  readonly content: string | null;
}

/** An answer, and its tip (null: the index is empty). */
export interface Answer<Value> {
  readonly tip: Tip | null;
  readonly value: Value;
}

/** An answer that may include pending inscriptions. */
export interface PendingAnswer<Value> extends Answer<Value> {
  /** Grows with every change of the mempool. Null: pending matches were not requested, or no mempool is followed. */
  readonly mempoolRevision: number | null;
}

export interface RecordPage {
  readonly records: readonly SearchRecord[];
  /** Exact. */
  readonly totalItems: number;
  /** 1-based. With a cursor: the page that it leads to. */
  readonly page: number;
  /** Cursor of the next page; present if a cursor was requested. Null: this is the last page. */
  readonly nextCursor?: string | null;
  /**
   * Present if requested. Null: counting would cost too much (more than a million matches), or the index changed
   * meanwhile.
   */
  readonly facets?: SearchFacets | null;
}

export interface TextPage extends RecordPage {
  /** The searched needles of `text`, as given, or its words, folded. */
  readonly needles: readonly string[];
}

export interface Paging {
  /** 1-based, up to 2^31 - 1. A page past the end is empty. Ignored with a cursor. */
  readonly page: number;
  /** 1 to 1,000. */
  readonly itemsPerPage: number;
  /** Default `height`. */
  readonly sort?: SearchSort;
  /** Default `asc`. */
  readonly order?: 'asc' | 'desc';
  /** The cursor of an earlier page. Empty: from the start. Not with `pending`. */
  readonly cursor?: string;
  readonly filter?: SearchFilter;
  /** Adds the matches of the mempool after all others. */
  readonly pending?: boolean;
  /** Also counts the matches by type and day, without those of the mempool. */
  readonly facets?: boolean;
  /** Absent: no client that could leave or share with others has sent the search. */
  readonly asker?: Asker;
}

/** The text of a search, its scope and its kind of match. */
export interface TextQuestion {
  readonly corpus: Corpus;
  /** May be absent if the filter has metadata, a title, traits or a gallery. */
  readonly text?: string;
  /** Default `substring`. */
  readonly match?: TextMatch;
  /** Takes the whole `text` as one needle, commas included. Only for substrings. */
  readonly phrase: boolean;
}

export interface TextSearch extends TextQuestion, Paging {
  /** Adds `highlights` to the records: at most 100 records per page. */
  readonly highlight?: boolean;
}

export interface HashSearch extends Paging {
  /** sha256 of the stored or the decoded body, 32 bytes. */
  readonly hash: Uint8Array;
}

/** The matches to count. */
export type FacetsQuestion = (TextQuestion | Pick<HashSearch, 'hash'>) & {
  readonly filter?: SearchFilter;
  readonly asker?: Asker;
};

/** For a text: the searched needles or words, as in `TextPage`. */
export interface CountedFacets extends Omit<SearchFacets, 'tip'> {
  readonly needles: readonly string[];
}

/** A word that a text could continue with. */
export interface SuggestedWord {
  /** Folded. */
  readonly word: string;
  /** Number of distinct contents in the sample that contain the word. */
  readonly contents: number;
}

export interface Suggestion {
  /** The text without the word that is being typed. */
  readonly before: string;
  /** Best first. */
  readonly words: readonly SuggestedWord[];
}

/** A hash and the first inscription with that content. Null: the content is new. */
export interface FirstOfHash {
  readonly hash: Uint8Array;
  readonly first: SearchRecord | null;
}

/**
 * The searches of the routes. Each answer is read in one snapshot. Throws `search_text_invalid` if `text` cannot be
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
  /** One entry per hash, in the requested order; up to 10,000. */
  hashes(hashes: readonly Uint8Array[], asker?: Asker): Promise<Answer<readonly FirstOfHash[]>>;
  /** Null: not indexed, and also not pending if pending was requested. */
  inscription(
    id: InscriptionId,
    pending?: boolean,
    asker?: Asker,
  ): Promise<PendingAnswer<LookupRecord | null>>;
}
