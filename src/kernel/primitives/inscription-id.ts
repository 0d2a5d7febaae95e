import { displayHash, parseTxid, type Txid, trustedTxid } from './hash.ts';

/**
 * The id of an inscription. It has the transaction that revealed the inscription (internal order), and the index among
 * the envelopes of that transaction.
 */
export interface InscriptionId {
  readonly txid: Txid;
  readonly index: number;
}

const pattern = /^([0-9a-f]{64})i([0-9]{1,10})$/iu;
// chain.inscriptions.index is an integer. ord's index is a u32, but no block has room for 2^31 envelopes
const maxIndex = 2 ** 31 - 1;

/** The id `<txid>i<index>` in lower case. */
export function formatInscriptionId(txid: Txid, index: number): string {
  return `${displayHash(txid)}i${index}`;
}

/** Parses `<txid>i<index>` with hex in either case. `null` for any other text. */
export function parseInscriptionId(text: string): InscriptionId | null {
  const match = pattern.exec(text);
  const txid = parseTxid(match?.[1] ?? '');
  const index = Number(match?.[2]);
  if (txid === null || !(index <= maxIndex)) return null;
  return { txid, index };
}

/** Reads an inscription id from 36 bytes (txid, index little endian). Delegates and parents are stored in this form. */
export function inscriptionIdFromBytes(bytes: Uint8Array): InscriptionId {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return { txid: trustedTxid(bytes.subarray(0, 32)), index: view.getUint32(32, true) };
}

/** The inverse of `inscriptionIdFromBytes`. */
export function inscriptionIdBytes({ txid, index }: InscriptionId): Uint8Array {
  const bytes = new Uint8Array(36);
  bytes.set(txid);
  new DataView(bytes.buffer).setUint32(32, index, true);
  return bytes;
}
