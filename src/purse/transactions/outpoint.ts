import { displayHash, parseTxid, type Txid } from '#kernel/primitives/hash.ts';

/** An output in the form that plans and accounts use: `<txid>:<vout>`, with the txid in display order. */
export const outpointOf = ({ txid, vout }: { readonly txid: Txid; readonly vout: number }): string =>
  `${displayHash(txid)}:${vout}`;

/** The txid in an outpoint, in display order. */
export const shownTxidOf = (outpoint: string): string => outpoint.slice(0, txidChars);

/** The txid and index of a stored outpoint. */
export function outpointParts(outpoint: string): { readonly txid: Txid; readonly vout: number } {
  const txid = parseTxid(shownTxidOf(outpoint));
  if (txid === null) throw new Error('a stored outpoint begins with a txid');
  return { txid, vout: Number(outpoint.slice(txidChars + 1)) };
}

/** Number of hex digits of a txid. A txid has 32 bytes. */
const txidChars = 64;
