/** Bounds of documents and pages. The writer of an index and its readers use the same bounds of documents. */
export interface ElasticTuning {
  /**
   * Number of keys in a span. No document has inscriptions of two spans, so sums over documents count the inscriptions
   * of each span, and a deep page only reads the spans that it touches. There is one document per text and span: large
   * spans put more copies into a document, small spans make deep pages cheaper (docs/adr/0014).
   */
  readonly spanKeys: number;
  /**
   * Maximum number of keys in a document. The documents of a first page contain all of their keys, so a text with very
   * many copies is split into documents of this size.
   */
  readonly keysPerDocument: number;
  /** Maximum number of documents from which a page is read. A deeper page is found by counting. */
  readonly hitsMax: number;
  /**
   * Maximum number of parts that a range is divided into. One round narrows a span of 2^22 keys to 4,096, the next to
   * 4.
   */
  readonly rangesMax: number;
  /**
   * Maximum number of combinations of phrases that are counted one by one. To exceed it, an attacker must pay for an
   * inscription with each combination.
   */
  readonly shapesMax: number;
  /**
   * Maximum number of combinations that one clause names. The server turns each into a clause and accepts a few
   * thousand. For more combinations, the server reads all documents first.
   */
  readonly namedShapesMax: number;
  /** Maximum number of matches in a range that is read whole, to find the first and last match of a page. */
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
