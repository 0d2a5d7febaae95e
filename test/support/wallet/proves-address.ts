import { createHash } from 'node:crypto';
import { schnorr, secp256k1 } from '@noble/curves/secp256k1.js';
import { crypto, payments, Transaction } from 'bitcoinjs-lib';

/** Whether a proof is valid for a script and a message: BIP 322, "simple". It uses bitcoinjs-lib, not our own code. */
export function provesAddress(script: Uint8Array, message: string, proof: string): boolean {
  const toSpend = new Transaction();
  toSpend.version = 0;
  const messageHash = tagged('BIP0322-signed-message', Buffer.from(message));
  toSpend.addInput(new Uint8Array(32), 0xffff_ffff, 0, Uint8Array.of(0, 32, ...messageHash));
  toSpend.addOutput(Uint8Array.from(script), 0n);
  const toSign = new Transaction();
  toSign.version = 0;
  toSign.addInput(toSpend.getHash(), 0, 0);
  toSign.addOutput(Uint8Array.of(0x6a), 0n);
  const [signature, publicKey, ...others] = witnessOf(Buffer.from(proof, 'base64'));
  if (signature === undefined || others.length > 0) return false;
  if (script[0] === 0x51) {
    const hash = toSign.hashForWitnessV1(0, [Uint8Array.from(script)], [0n], 0);
    return publicKey === undefined && schnorr.verify(signature, hash, script.subarray(2));
  }
  if (publicKey === undefined || signature.at(-1) !== Transaction.SIGHASH_ALL) return false;
  const hash160 = crypto.hash160(publicKey);
  if (Buffer.compare(hash160, script.subarray(2)) !== 0) return false;
  const { output: code } = payments.p2pkh({ hash: hash160 });
  const hash = toSign.hashForWitnessV0(0, code!, 0n, Transaction.SIGHASH_ALL);
  return secp256k1.verify(signature.subarray(0, -1), hash, publicKey, { prehash: false, format: 'der' });
}

/** Splits a witness into its items. Each item has fewer than 253 bytes. */
function witnessOf(bytes: Uint8Array): Uint8Array[] {
  const items: Uint8Array[] = [];
  for (let at = 1; items.length < bytes[0]!; at += 1 + bytes[at]!)
    items.push(bytes.subarray(at + 1, at + 1 + bytes[at]!));
  return items;
}

function tagged(tag: string, bytes: Uint8Array): Uint8Array {
  const hash = createHash('sha256').update(tag).digest();
  return createHash('sha256').update(hash).update(hash).update(bytes).digest();
}
