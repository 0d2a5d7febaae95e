import { asU128, maxU64, smallU128, type U128 } from './u128.ts';

/** Position of an etching: the height of the block, and the index of the transaction in it. */
export interface RuneId {
  /** Up to 2^64 - 1: a runestone can name ids that no rune will ever have. */
  readonly block: U128;
  readonly tx: number;
}

/** Names the rune that a transaction etches, in its own edicts and amounts. */
export const etchedHere: RuneId = { block: smallU128(0), tx: 0 };

export const maxU32 = 2 ** 32 - 1;

/** Whether an id is possible. Block 0 has one id, 0:0, which means "the rune that is etched here". */
export function isRuneId(block: U128, tx: number): boolean {
  return block !== 0 || tx === 0;
}

export function formatRuneId({ block, tx }: RuneId): string {
  return `${block}:${tx}`;
}

/** Whether a text has the form of an id, though its numbers may be too large for one. */
export function hasFormOfRuneId(text: string): boolean {
  return /^\d+:\d+$/u.test(text);
}

/** `<block>:<tx>` in decimal digits; null for anything else. */
export function parseRuneId(text: string): RuneId | null {
  const match = /^(\d{1,20}):(\d{1,10})$/u.exec(text);
  if (match === null) return null;
  const block = BigInt(match[1] ?? '');
  const tx = Number(match[2]);
  return block > maxU64 || tx > maxU32 ? null : { block: asU128(block), tx };
}
