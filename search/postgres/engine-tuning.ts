/** Thresholds at which one strategy becomes faster than another. Answers are the same for all values. */
export interface EngineTuning {
  /** Maximum bytes in memory of sealed parts, and of search results in these parts. */
  readonly cacheBytesMax: number;
  /** Number of grams of long needles that are looked up first. Most rare needles match nothing after these. */
  readonly firstGrams: number;
  /**
   * Maximum number of candidates in a segment at which texts are checked. With more candidates, more grams are looked
   * up first.
   */
  readonly enoughCandidates: number;
  /** Minimum number of candidates of a segment that are compared with its passages, before their texts are read. */
  readonly passagesAbove: number;
  /** Number of texts that a scan reads in the time of one lookup by id. */
  readonly scanAdvantage: number;
  /**
   * Maximum number of matching texts or inscriptions that are found by the index on inscriptions. With more, the
   * columns of all inscriptions are scanned.
   */
  readonly indexedMin: number;
  /** Number of inscriptions that a scan reads in the time of one lookup by the index. `indexedMin` grows by this. */
  readonly columnAdvantage: number;
  /**
   * Maximum bytes of texts and of properties that one search checks one by one. A fuzzy search compares words, which
   * costs more.
   */
  readonly readBytesMax: number;
  readonly fuzzyBytesMax: number;
}

export const usualTuning: EngineTuning = {
  // holds the columns of 4 million inscriptions (4 bytes each; filters and sorts take 1 to 3 more) and the most
  // frequent postings
  cacheBytesMax: 64 * 1024 * 1024,
  firstGrams: 8,
  enoughCandidates: 64,
  passagesAbove: 256,
  scanAdvantage: 8,
  indexedMin: 500,
  columnAdvantage: 1000,
  // takes 4 to 5 s: some 60 MB/s are read from Postgres and checked
  readBytesMax: 256 * 1024 * 1024,
  // takes 2 to 3 s: some 25 MB/s, on the thread that serves all requests; every client that may search can request it
  fuzzyBytesMax: 64 * 1024 * 1024,
};
