import { createHash, ECDH } from 'node:crypto';
import { schnorr } from '@noble/curves/secp256k1.js';
import { isPointX } from '#kernel/bitcoin/curve-point.ts';
import { parseAddress } from '#kernel/bitcoin/parse-address.ts';
import { scriptType } from '#kernel/bitcoin/script-type.ts';
import { taggedHash } from '#kernel/bitcoin/signature-hashes.ts';
import { compactSizeBytes } from '#kernel/bitcoin/transaction-size.ts';
import { type NetworkName, networks } from '#kernel/primitives/network.ts';
import { leafFault } from './leaf-script.ts';

/** A displayed address, and the data that a spend of its outputs reveals. */
export interface SpendableClaim {
  readonly network: NetworkName;
  readonly address: string;
  readonly script: Uint8Array;
  /** The internal key as an x coordinate. */
  readonly xOnlyKey: Uint8Array;
  readonly leafScript: Uint8Array | null;
  /** Hash of a leaf that is no longer stored. If only the hash is known, only the spend by key is proven. */
  readonly leafHash?: Uint8Array;
  readonly controlBlock: Uint8Array | null;
}

const leafVersionMask = 0xfe;
const tapscript = 0xc0;

/**
 * Proves that the owner of a key can spend payments to an address, by key and through the leaf. Must be called before
 * the address is shown. Makes the same checks as a node (BIP 341, 342), except for the signature, which needs the seed.
 * Uses other arithmetic than the code that made the script (taproot.ts). Returns null if the address can be spent,
 * otherwise the reason why not.
 */
export function spendableFault(claim: SpendableClaim): string | null {
  const { script, leafScript, controlBlock, xOnlyKey, address, network } = claim;
  if (scriptType(script) !== 'p2tr') return 'the script is not P2TR';
  const parsed = parseAddress(address, networks[network]);
  if (parsed.kind !== 'script' || !isEqual(parsed.script, script)) return 'the address has another script';
  const root = rootOf(claim);
  const output = tweaked(xOnlyKey, root ?? new Uint8Array(0));
  if (output === null) return 'the key is not a point of the curve';
  // spend by key: the output key must match the tweaked private key
  if (!isEqual(output.x, script.subarray(2))) return 'the output key does not belong to the key and the leaf';
  if (root === null) return controlBlock === null ? null : 'a control block without a leaf';
  if (controlBlock === null) return 'a leaf without a control block';
  const fault = controlBlockFault(controlBlock, xOnlyKey, output.isOdd);
  return leafScript === null ? fault : (fault ?? leafFault(leafScript, xOnlyKey));
}

/** A displayed P2WPKH address, and the key that a spend of its outputs reveals. */
interface PublicKeyHashClaim
  extends Pick<SpendableClaim, 'network' | 'address' | 'script' | 'leafScript' | 'leafHash'> {
  /** Compressed public key. */
  readonly publicKey: Uint8Array;
}

/** Proves that a P2WPKH address can be spent. Returns null if it can be spent, otherwise the reason why not. */
export function publicKeyHashFault(claim: PublicKeyHashClaim): string | null {
  const { network, address, script, publicKey, leafScript, leafHash: hash } = claim;
  if (leafScript !== null || hash !== undefined) return 'P2WPKH has no leaf';
  if (scriptType(script) !== 'p2wpkh') return 'the script is not P2WPKH';
  const parsed = parseAddress(address, networks[network]);
  if (parsed.kind !== 'script' || !isEqual(parsed.script, script)) return 'the address has another script';
  if (publicKey.length !== 33 || !isOnCurve(publicKey))
    return 'the key is not a compressed point of the curve';
  const sha256 = createHash('sha256').update(publicKey).digest();
  const keyHash = createHash('ripemd160').update(sha256).digest();
  return isEqual(keyHash, script.subarray(2)) ? null : 'the script does not belong to the key';
}

/** Whether a compressed key is a point on the curve. If x is on the curve, both signs of y are points. */
const isOnCurve = ([sign, ...x]: Uint8Array): boolean =>
  (sign === 2 || sign === 3) && isPointX(Uint8Array.from(x));

/** The Merkle root. It is the hash of the only leaf, or null if there is no leaf. */
const rootOf = ({ leafScript, leafHash: hash }: SpendableClaim): Uint8Array | null =>
  leafScript === null ? (hash ?? null) : leafHash(leafScript);

/**
 * Checks the control block (BIP 341): first the leaf version with the parity of the output key, then the internal key.
 * The path is empty, because there is only one leaf.
 */
function controlBlockFault(block: Uint8Array, internalKey: Uint8Array, isOdd: boolean): string | null {
  const [first = 0] = block;
  if (block.length !== 33) return `the control block has ${block.length} bytes`;
  if ((first & leafVersionMask) !== tapscript) return 'the control block has another leaf version';
  if (((first & 1) === 1) !== isOdd) return 'the control block has the wrong parity';
  return isEqual(block.subarray(1), internalKey) ? null : 'the control block has another internal key';
}

/**
 * Computes Q = P + t·G, where t is the tagged hash of P and the root. Returns null if P is not a point, or if t is not
 * a scalar.
 */
function tweaked(internalKey: Uint8Array, root: Uint8Array): { x: Uint8Array; isOdd: boolean } | null {
  const { Point } = schnorr;
  const tweak = BigInt(`0x${taggedHash('TapTweak', internalKey, root).toString('hex')}`);
  try {
    const inner = Point.fromBytes(evenPoint(internalKey));
    // all values are public, so the time of the computation may depend on them
    const { x, y } = inner.add(Point.BASE.multiplyUnsafe(tweak)).toAffine();
    return { x: Buffer.from(x.toString(16).padStart(64, '0'), 'hex'), isOdd: (y & 1n) === 1n };
  } catch {
    return null;
  }
}

/**
 * The point with an x coordinate and an even y, as 65 bytes. Throws if there is no such point. OpenSSL finds y in a
 * tenth of the time of BigInt arithmetic.
 */
const evenPoint = (x: Uint8Array): Uint8Array =>
  Buffer.from(ECDH.convertKey(Buffer.concat([evenY, x]), 'secp256k1', undefined, undefined, 'uncompressed'));

const evenY = Uint8Array.of(2);

function leafHash(script: Uint8Array): Uint8Array {
  const length = Buffer.alloc(compactSizeBytes(script.length));
  if (length.length === 1) length[0] = script.length;
  else {
    length[0] = length.length === 3 ? 0xfd : 0xfe;
    length.writeUIntLE(script.length, 1, length.length - 1);
  }
  return taggedHash('TapLeaf', Uint8Array.of(tapscript), length, script);
}

const isEqual = (one: Uint8Array, other: Uint8Array): boolean => Buffer.compare(one, other) === 0;
