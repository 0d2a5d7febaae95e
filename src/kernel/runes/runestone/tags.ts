/** Tags of a runestone's fields (ord crates/ordinals/src/runestone/tag.rs). All other odd tags are ignored. */
export const tags = {
  body: 0,
  divisibility: 1,
  flags: 2,
  spacers: 3,
  rune: 4,
  symbol: 5,
  premine: 6,
  cap: 8,
  amount: 10,
  heightStart: 12,
  heightEnd: 14,
  offsetStart: 16,
  offsetEnd: 18,
  mint: 20,
  pointer: 22,
} as const;

/** Bits of the field `flags`. */
export const flags = { etching: 1, terms: 2, turbo: 4 } as const;

export const divisibilityMax = 38;
/** Maximum value of spacers. 28 letters have 27 gaps, each with one bit. */
export const spacersMax = 2 ** 27 - 1;
