import { createHmac } from 'node:crypto';
import { secp256k1 } from '@noble/curves/secp256k1.js';

const { Point } = secp256k1;

/** An extended public key: what its children's public keys are derived from (BIP 32). */
export interface PublicParent {
  readonly chainCode: Uint8Array;
  /** Compressed. */
  readonly publicKey: Uint8Array;
  readonly point: InstanceType<typeof Point>;
}

/** The parent of these keys, whose point is computed once. Throws for a key that is no point. */
export const publicParent = (chainCode: Uint8Array, publicKey: Uint8Array): PublicParent => ({
  chainCode,
  publicKey,
  point: Point.fromBytes(publicKey),
});

/**
 * The compressed public key of a child that is not hardened: CKDpub of BIP 32. All of it is public, so the time that it
 * takes may depend on it: `HDKey` multiplies as for secrets, which takes 0.95 ms of processor time, and this 0.45 ms.
 * Null: BIP 32 has no key at this index, which no one will ever see.
 */
export function publicChild({ chainCode, publicKey, point }: PublicParent, index: number): Uint8Array | null {
  const data = Buffer.alloc(publicKey.length + 4);
  data.set(publicKey);
  data.writeUInt32BE(index, publicKey.length);
  const hash = createHmac('sha512', chainCode).update(data).digest();
  const tweak = BigInt(`0x${hash.toString('hex', 0, 32)}`);
  if (!Point.Fn.isValidNot0(tweak)) return null;
  const child = point.add(Point.BASE.multiplyUnsafe(tweak));
  return child.is0() ? null : child.toBytes(true);
}
