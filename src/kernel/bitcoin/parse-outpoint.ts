import { parseTxid, type Txid } from '#kernel/primitives/hash.ts';

const pattern = /^([0-9a-f]{64}):(\d{1,10})$/iu;
/** Maximum index of an output, because indexes have 32 bits. */
const voutMax = 0xffff_ffff;

/** The output that a text `<txid>:<vout>` names. Null for any other text. */
export function parseOutpoint(text: string): { readonly txid: Txid; readonly vout: number } | null {
  const [, hash = '', digits = ''] = pattern.exec(text) ?? [];
  const txid = parseTxid(hash);
  const vout = Number(digits);
  return txid === null || vout > voutMax ? null : { txid, vout };
}
