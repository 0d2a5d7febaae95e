/** The parser's observations about an envelope, as bits: facts for the rules of curses (ord envelope.rs). */
export const envelopeFlags = {
  unrecognizedEvenField: 1,
  duplicateField: 2,
  incompleteField: 4,
  /** Not the first envelope of its input (ord's `offset != 0`). */
  notAtOffsetZero: 8,
  /** A pointer field is there, valid or not. */
  pointer: 16,
  pushnum: 32,
  stutter: 64,
  /** A body is there, empty or not. */
  body: 128,
} as const;
