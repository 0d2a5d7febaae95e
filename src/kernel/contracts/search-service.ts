import type { InscriptionId } from '#kernel/primitives/inscription-id.ts';
import type { Corpus, Tip } from './search-engine.ts';

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
}

export interface TextPage extends RecordPage {
  /** The needles that `text` was split into, as they were given (not folded). */
  readonly needles: readonly string[];
}

export interface Paging {
  /** 1-based, up to 2^31 - 1; past the end is an empty page. */
  readonly page: number;
  /** 1 to 1,000. */
  readonly itemsPerPage: number;
  /** Adds the matches of the mempool, behind all others. */
  readonly pending?: boolean;
  /** Aborted: nobody waits for the answer any more. */
  readonly signal?: AbortSignal;
}

export interface TextSearch extends Paging {
  readonly corpus: Corpus;
  readonly text: string;
  /** The whole of `text` is one needle, commas included. */
  readonly phrase: boolean;
}

export interface HashSearch extends Paging {
  /** sha256 of the stored or of the decoded body, 32 bytes. */
  readonly hash: Uint8Array;
}

/** A hash and the first inscription of that content; null: it is new. */
export interface FirstOfHash {
  readonly hash: Uint8Array;
  readonly first: SearchRecord | null;
}

/**
 * What the routes of searches ask. Each answer is read in one snapshot.
 * Throws `search_text_invalid` where `text` cannot be split into needles (its message is shown to the client), and
 * `search_busy` where more searches are under way than are taken on.
 */
export interface SearchService {
  textSearch(search: TextSearch): Promise<PendingAnswer<TextPage>>;
  hashSearch(search: HashSearch): Promise<PendingAnswer<RecordPage>>;
  /** In the order asked, one entry a hash; up to 10,000. */
  hashes(hashes: readonly Uint8Array[], signal?: AbortSignal): Promise<Answer<readonly FirstOfHash[]>>;
  /** Null: not indexed, and not pending where that was asked for. */
  inscription(id: InscriptionId, pending?: boolean): Promise<PendingAnswer<LookupRecord | null>>;
}
