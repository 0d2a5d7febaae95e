import { asU128, maxU64, smallU128, type U128 } from './u128.ts';

/**
 * The id of a rune. It is the position of its etching, with the height of the block and the index of the transaction in
 * the block.
 */
export interface RuneId {
  /** Height, up to 2^64 - 1, because a runestone can name ids that no rune will ever have. */
  readonly block: U128;
  readonly tx: number;
}

/** The id of the rune that a transaction etches, in edicts and amounts of the same transaction. */
export const etchedHere: RuneId = { block: smallU128(0), tx: 0 };

export const maxU32 = 2 ** 32 - 1;

/** Whether an id is possible. In block 0, only 0:0 is possible, which means "the rune that is etched here". */
export function isRuneId(block: U128, tx: number): boolean {
  return block !== 0 || tx === 0;
}

export function formatRuneId({ block, tx }: RuneId): string {
  return `${block}:${tx}`;
}

/** Whether a text has the form of a rune id. Its numbers may be too large for a rune id. */
export function hasFormOfRuneId(text: string): boolean {
  return /^\d+:\d+$/u.test(text);
}

/** Parses `<block>:<tx>` in decimal digits. `null` for any other text. */
export function parseRuneId(text: string): RuneId | null {
  const match = /^(\d{1,20}):(\d{1,10})$/u.exec(text);
  if (match === null) return null;
  const block = BigInt(match[1] ?? '');
  const tx = Number(match[2]);
  return block > maxU64 || tx > maxU32 ? null : { block: asU128(block), tx };
}
