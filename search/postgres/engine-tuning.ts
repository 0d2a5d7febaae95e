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
  /**
   * The index on inscriptions answers where no more texts match than this, nor more inscriptions; where they are more, the
   * columns of all inscriptions are scanned.
   */
  readonly indexedMin: number;
  /** One inscription found by the index takes as long as about so many of a scan; it is what `indexedMin` grows by. */
  readonly columnAdvantage: number;
  /** Bytes of texts, and of properties, that a search looks at one by one; the words of a fuzzy one are compared, which costs more. */
  readonly readBytesMax: number;
  readonly fuzzyBytesMax: number;
}

export const usualTuning: EngineTuning = {
  // the columns of 4 million inscriptions (4 bytes each; filters and sorts 1 to 3 more) and the postings that are asked for most
  cacheBytesMax: 64 * 1024 * 1024,
  firstGrams: 8,
  enoughCandidates: 64,
  scanAdvantage: 8,
  indexedMin: 500,
  columnAdvantage: 1000,
  // 4 to 5 s at some 60 MB/s that are read from Postgres and looked at
  readBytesMax: 256 * 1024 * 1024,
  // 2 to 3 s at some 25 MB/s, on the thread that answers everybody: whoever may search may ask for this
  fuzzyBytesMax: 64 * 1024 * 1024,
};
