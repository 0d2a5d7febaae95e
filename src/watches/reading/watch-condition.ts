import type { Corpus, SearchFilter } from '#kernel/contracts/search-engine.ts';
import type { Rune } from '#kernel/runes/rune.ts';

/** The condition of a saved search, and of a watch of children. All its parts must be true. */
export interface SearchCondition {
  readonly corpus: Corpus;
  readonly match: 'substring' | 'words';
  /** Folded needles. All of them must occur. Empty: the filter or the hash decides. */
  readonly needles: readonly string[];
  /** sha256 of the stored or decoded content, in hex. Null: no hash is asked for. */
  readonly hash: string | null;
  readonly filter: SearchFilter;
}

/** Sales of inscriptions. Conditions that are null are always true. */
export interface SalesCondition {
  /** Slug of a collection of the market. */
  readonly collection: string | null;
  /** Price in sats. Both bounds are included. */
  readonly minPrice: number | null;
  readonly maxPrice: number | null;
  /** Script of the maker or the taker. */
  readonly script: Buffer | null;
}

export interface RunesCondition {
  readonly event: 'etched' | 'minted-out';
  /** Null: every rune. */
  readonly rune: Rune | null;
}

/** The condition of a watch, as the matching needs it. */
export type WatchCondition =
  | { readonly kind: 'search' | 'children'; readonly search: SearchCondition }
  | { readonly kind: 'sales'; readonly sales: SalesCondition }
  | { readonly kind: 'runes'; readonly runes: RunesCondition }
  | { readonly kind: 'receipts'; readonly script: Buffer };
