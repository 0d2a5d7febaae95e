import { foldCodePoint } from '#kernel/text/fold.ts';

/** What bytes of a text need: nothing, another ASCII byte each, or the rules for all of Unicode. */
export const asciiNeeds = { nothing: 0, folding: 1, unicode: 2 } as const;
export type AsciiNeed = (typeof asciiNeeds)[keyof typeof asciiNeeds];

const folded = Uint8Array.from({ length: 256 }, (_, byte) => (byte < 0x80 ? foldCodePoint(byte) : byte));
const needOf = Uint8Array.from({ length: 256 }, (_, byte): number => {
  if (byte >= 0x80 || foldCodePoint(byte) >= 0x80) return asciiNeeds.unicode;
  return foldCodePoint(byte) === byte ? asciiNeeds.nothing : asciiNeeds.folding;
});

/** Most texts are ASCII: one pass says so, and what folding (kernel/text/fold.ts) would change. */
export function asciiNeed(bytes: Uint8Array, start: number, end: number): AsciiNeed {
  let needs = 0;
  for (let at = start; at < end; at++) needs |= needOf[bytes[at] as number] as number;
  if (needs >= asciiNeeds.unicode) return asciiNeeds.unicode;
  return needs === asciiNeeds.folding ? asciiNeeds.folding : asciiNeeds.nothing;
}

/** Writes the folded form of ASCII bytes, which is as long, to `to` of `target`. */
export function foldAscii(
  source: Uint8Array,
  start: number,
  end: number,
  target: Uint8Array,
  to: number,
): void {
  const shift = to - start;
  for (let at = start; at < end; at++) target[at + shift] = folded[source[at] as number] as number;
}
