import { strict as assert } from 'node:assert';
import { scriptType } from '#kernel/bitcoin/script-type.ts';
import {
  type HashedTransaction,
  SignatureHashes,
  sighash,
  taggedHash,
} from '#kernel/bitcoin/signature-hashes.ts';
import { compactSize, u32, u64 } from '#kernel/bitcoin/transaction-bytes.ts';
import { doubleSha256 } from './encode-transaction.ts';

/**
 * OP_RETURN. It is the script of the signed transaction's only output, so that the transaction cannot move anything.
 */
const opReturn = Uint8Array.of(0x6a);
const noHash = Buffer.alloc(32);
const noOutput = 0xffff_ffff;

/**
 * Computes the hash that a proof of an address signs: BIP 322, format "simple". It is the hash of a transaction that no
 * block can contain, because its input refers to a transaction that is not in the chain.
 *
 * @param script script of the address: P2TR that is spent by key, or P2WPKH
 * @param message text, which is signed as UTF-8
 */
export function addressProofHash(script: Uint8Array, message: string): Uint8Array {
  const hashes = new SignatureHashes(toSign(script, message));
  const type = scriptType(script);
  if (type === 'p2tr') {
    const hash = hashes.taproot(0, sighash.default, null);
    assert(hash !== null, 'the only input spends a known output');
    return hash;
  }
  assert(type === 'p2wpkh', 'addresses of the wallet are P2TR or P2WPKH');
  // the script code of P2WPKH is the P2PKH script of the same hash (BIP 143)
  const code = Buffer.concat([Buffer.of(0x76, 0xa9, 20), script.subarray(2), Buffer.of(0x88, 0xac)]);
  return hashes.witness(0, code, 0n, sighash.all);
}

/** The transaction `to_sign` of BIP 322. */
function toSign(script: Uint8Array, message: string): HashedTransaction {
  const spent = { value: 0n, script };
  return {
    version: 0,
    lockTime: 0,
    inputs: [{ txid: toSpendTxid(script, message), vout: 0, sequence: 0, spent }],
    outputs: [{ value: 0n, script: opReturn }],
  };
}

/**
 * The txid of the transaction `to_spend` of BIP 322, in internal order. The txid commits to the script and the message.
 */
export function toSpendTxid(script: Uint8Array, message: string): Uint8Array {
  const messageHash = taggedHash('BIP0322-signed-message', Buffer.from(message));
  const signatureScript = Buffer.concat([Buffer.of(0, 32), messageHash]);
  return doubleSha256(
    Buffer.concat([
      u32(0),
      compactSize(1),
      noHash,
      u32(noOutput),
      withLength(signatureScript),
      u32(0),
      compactSize(1),
      u64(0n),
      withLength(script),
      u32(0),
    ]),
  );
}

/** A witness in base64, which is the form in BIP 322. */
export function shownWitness(items: readonly Uint8Array[]): string {
  return Buffer.concat([compactSize(items.length), ...items.map(withLength)]).toString('base64');
}

const withLength = (bytes: Uint8Array): Buffer => Buffer.concat([compactSize(bytes.length), bytes]);
