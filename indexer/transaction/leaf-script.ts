import { annexPrefix } from './block-layout.ts';

/**
 * The script that ord searches: the last item but one, without the annex, for any kind of spent output (docs of
 * rust-bitcoin's P2TrSpend). Returns null if the witness has no such item.
 */
export function leafScript(witness: readonly Uint8Array[]): Uint8Array | null {
  const count = witness.length;
  if (count < 2) return null;
  const hasAnnex = witness[count - 1]?.[0] === annexPrefix;
  if (!hasAnnex) return witness[count - 2] ?? null;
  return count === 2 ? null : (witness[count - 3] ?? null);
}
