/** Thresholds at which one strategy overtakes another. Answers are the same for all values. */
export interface EngineTuning {
  /** Bytes of sealed parts, and of results in them, kept in memory. */
  readonly cacheBytesMax: number;
  /** Grams of long needles looked up first: most rare needles match nothing after these. */
  readonly firstGrams: number;
  /** Number of candidates left in a segment above which more grams are looked up before texts are checked. */
  readonly enoughCandidates: number;
  /** Texts that a scan reads in the time of one look-up by id. */
  readonly scanAdvantage: number;
  /**
   * Up to this many matching texts or inscriptions are found by the index on inscriptions. Beyond that the columns of
   * all inscriptions are scanned.
   */
  readonly indexedMin: number;
  /** Inscriptions that a scan passes in the time of one look-up by the index; `indexedMin` grows by this. */
  readonly columnAdvantage: number;
  /**
   * Bytes of texts and of properties that one search checks one by one. A fuzzy search compares words, which costs
   * more.
   */
  readonly readBytesMax: number;
  readonly fuzzyBytesMax: number;
}

export const usualTuning: EngineTuning = {
  // the columns of 4 million inscriptions (4 bytes each; filters and sorts 1 to 3 more) and the most frequent
  // postings
  cacheBytesMax: 64 * 1024 * 1024,
  firstGrams: 8,
  enoughCandidates: 64,
  scanAdvantage: 8,
  indexedMin: 500,
  columnAdvantage: 1000,
  // 4 to 5 s: some 60 MB/s are read from Postgres and checked
  readBytesMax: 256 * 1024 * 1024,
  // 2 to 3 s: some 25 MB/s, on the thread that serves all requests, and every client that may search can ask for it
  fuzzyBytesMax: 64 * 1024 * 1024,
};
