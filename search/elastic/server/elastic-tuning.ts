/** Bounds of documents and pages. Those of documents are the same for whoever writes an index and whoever asks it. */
export interface ElasticTuning {
  /**
   * Keys of a span. No document holds inscriptions of two spans, so sums over documents count the inscriptions of each
   * span, and a deep page looks into the spans alone that it touches. Documents are one a text and span: large spans fold
   * more copies into one document, small ones make deep pages cheaper (docs/adr/0014).
   */
  readonly spanKeys: number;
  /**
   * Keys of a document at most: the documents of a first page carry all of them, and a text that very many copy costs once more
   * for each so many of them.
   */
  readonly keysPerDocument: number;
  /** Documents that a page is read from at most; pages that end behind so many inscriptions are looked for by counts. */
  readonly hitsMax: number;
  /** Ranges that a range is divided into: one round narrows a span of 2^22 keys to 4,096, the next to 4. */
  readonly rangesMax: number;
  /** Combinations of phrases that are known one by one; whoever wants to make more of them pays for an inscription of each. */
  readonly shapesMax: number;
  /**
   * Combinations that a clause names: each is a clause to the server, which takes some thousand. Of more it goes through all
   * documents beforehand.
   */
  readonly namedShapesMax: number;
  /** A range of so many matches is read as it is, to find the first and the last match of a page. */
  readonly rangeMatchesMax: number;
}

export const usualTuning: ElasticTuning = {
  spanKeys: 1 << 22,
  keysPerDocument: 256,
  hitsMax: 1000,
  rangesMax: 1024,
  rangeMatchesMax: 2000,
  shapesMax: 5000,
  namedShapesMax: 128,
};
