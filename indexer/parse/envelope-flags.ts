/** The parser's observations about an envelope, as bits: facts for the rules of curses (ord envelope.rs). */
export const envelopeFlags = {
  unrecognizedEvenField: 1,
  duplicateField: 2,
  incompleteField: 4,
  /** Set if the envelope is not the first of its input (ord's `offset != 0`). */
  notAtOffsetZero: 8,
  /** Set if there is a pointer field, valid or not. */
  pointer: 16,
  pushnum: 32,
  stutter: 64,
  /** Set if there is a body, empty or not. */
  body: 128,
} as const;
