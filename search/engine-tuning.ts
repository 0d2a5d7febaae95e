/** Where one way to answer begins to be better than another. Answers are the same whatever these are. */
export interface EngineTuning {
  /** Bytes of sealed parts, and of results in them, that are kept in memory. */
  readonly cacheBytesMax: number;
  /** Grams of long needles that are looked up before anything else: rare needles match nowhere by then. */
  readonly firstGrams: number;
  /** Where a segment has more candidates than this after that, more grams are looked up before they are checked. */
  readonly enoughCandidates: number;
  /** A text that is looked up by its id takes as long as about so many of a scan. */
  readonly scanAdvantage: number;
  /** Texts up to which the index on inscriptions is tried before a scan of the columns. */
  readonly indexedTextsMax: number;
  /** Inscriptions of them up to which it answers. */
  readonly indexedKeysMax: number;
}

export const usualTuning: EngineTuning = {
  // the columns of 4 million inscriptions (4 bytes each) and the postings that are asked for most
  cacheBytesMax: 64 * 1024 * 1024,
  firstGrams: 8,
  enoughCandidates: 64,
  scanAdvantage: 8,
  indexedTextsMax: 1000,
  // some 2 ms
  indexedKeysMax: 4000,
};
