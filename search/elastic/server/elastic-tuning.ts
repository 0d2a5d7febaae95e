/** Bounds of documents and pages. The writer of an index and its readers use the same bounds of documents. */
export interface ElasticTuning {
  /**
   * Keys of a span. No document holds inscriptions of two spans, so sums over documents count the inscriptions of
   * each span, and a deep page looks only into the spans that it touches. There is one document per text and span:
   * large spans fold more copies into a document, small spans make deep pages cheaper (docs/adr/0014).
   */
  readonly spanKeys: number;
  /**
   * Most keys of a document. The documents of a first page carry all of their keys, so a text with very many copies
   * is split into documents of this size.
   */
  readonly keysPerDocument: number;
  /** Most documents that a page is read from. A deeper page is found by counting. */
  readonly hitsMax: number;
  /** Parts that a range is divided into: one round narrows a span of 2^22 keys to 4,096, the next to 4. */
  readonly rangesMax: number;
  /**
   * Combinations of phrases that are counted one by one. To exceed this, an attacker must pay for an inscription of
   * each.
   */
  readonly shapesMax: number;
  /**
   * Combinations that one clause names: the server turns each into a clause and accepts a few thousand. For more of
   * them it walks all documents first.
   */
  readonly namedShapesMax: number;
  /** A range with this few matches is read whole to find the first and last match of a page. */
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
