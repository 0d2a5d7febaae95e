import { strict as assert } from 'node:assert';
import type { Brand } from './brand.ts';

/** The id of a transaction. It is 32 bytes in internal order, the order in which hashes are computed. */
export type Txid = Brand<Uint8Array, 'Txid'>;

/** The hash of a block's header. It is 32 bytes in internal order. */
export type BlockHash = Brand<Uint8Array, 'BlockHash'>;

/** A txid in display order, which is reversed, as 64 lower-case hex digits. */
export type TxidHex = Brand<string, 'TxidHex'>;

/** A block hash in display order, which is reversed, as 64 lower-case hex digits. */
export type BlockHashHex = Brand<string, 'BlockHashHex'>;

const hashBytes = 32;
const displayed = /^[0-9a-f]{64}$/iu;

/** Hex of a txid, block hash or merkle root in display order, which is reversed. */
export function displayHash(hash: Txid): TxidHex;
export function displayHash(hash: BlockHash): BlockHashHex;
export function displayHash(hash: Uint8Array): string;
export function displayHash(hash: Uint8Array): string {
  return Buffer.from(hash).reverse().toString('hex');
}

/** Parses a txid of 64 hex digits in display order, in either case. `null` for any other text. */
export function parseTxid(text: string): Txid | null {
  return displayed.test(text) ? (bytesOf(text) as Txid) : null;
}

/** Parses a block hash of 64 hex digits in display order, in either case. `null` for any other text. */
export function parseBlockHash(text: string): BlockHash | null {
  return displayed.test(text) ? (bytesOf(text) as BlockHash) : null;
}

/** Parses 64 hex digits in either case into a block hash in display order. `null` for any other text. */
export function parseBlockHashHex(text: string): BlockHashHex | null {
  return displayed.test(text) ? (text.toLowerCase() as BlockHashHex) : null;
}

/** Parses 64 hex digits in either case into a txid in display order. `null` for any other text. */
export function parseTxidHex(text: string): TxidHex | null {
  return displayed.test(text) ? (text.toLowerCase() as TxidHex) : null;
}

/** Asserts that a text is a txid in display order, in either case. */
export function asTxidHex(text: string): TxidHex {
  const txid = parseTxidHex(text);
  assert(txid !== null, `${text} is not a txid`);
  return txid;
}

/** Asserts that the number of bytes is that of a txid. */
export function asTxid(bytes: Uint8Array): Txid {
  assert(bytes.length === hashBytes, `a txid of ${bytes.length} bytes`);
  return bytes as Txid;
}

/** Asserts that the number of bytes is that of a block hash. */
export function asBlockHash(bytes: Uint8Array): BlockHash {
  assert(bytes.length === hashBytes, `a block hash of ${bytes.length} bytes`);
  return bytes as BlockHash;
}

/** Asserts that a text is a block hash in display order, in either case. */
export function asBlockHashHex(text: string): BlockHashHex {
  const hash = parseBlockHashHex(text);
  assert(hash !== null, `${text} is not a block hash`);
  return hash;
}

/** 32 bytes that are known to be a txid. Not checked. */
export function trustedTxid(bytes: Uint8Array): Txid {
  return bytes as Txid;
}

function bytesOf(text: string): Uint8Array {
  return Uint8Array.from(Buffer.from(text, 'hex').reverse());
}
