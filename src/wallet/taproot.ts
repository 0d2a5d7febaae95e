import { tapLeafHash } from '@scure/btc-signer/payment.js';
import { tagSchnorr } from '@scure/btc-signer/utils.js';
import { xOnlyPointAddTweak } from 'tiny-secp256k1';
import type { OwnScript } from '#kernel/contracts/transaction-plan.ts';

/** The leaf version of tapscript (BIP 342). The control block also contains it. */
export const leafVersion = 0xc0;

/** A P2TR output with at most one leaf (BIP 341). */
export interface TaprootOutput {
  /** The output script: OP_1 and the output key. */
  readonly script: Uint8Array;
  readonly outputKey: Uint8Array;
  /** The hash of the only leaf, or null if there is no leaf. The output key commits to this hash. */
  readonly merkleRoot: Uint8Array | null;
  /**
   * The control block, or null if there is no leaf. A spend through the leaf reveals it as a proof, together with the
   * leaf.
   */
  readonly controlBlock: Uint8Array | null;
}

const noRoot = new Uint8Array(0);

/** The hash of a leaf. With this hash, the output can be spent by key even after the leaf is deleted. */
export const leafHashOf = (leafScript: Uint8Array): Uint8Array => tapLeafHash(leafScript, leafVersion);

/**
 * Makes the output of an x-only internal key and a leaf or its hash, or of the key alone (BIP 86). libsecp256k1 adds
 * the points, and each address is also proven with other arithmetic (prove-spendable.ts). Throws if the key is not a
 * point.
 */
export function taprootOutput(
  internalKey: Uint8Array,
  { leafScript, leafHash }: Pick<OwnScript, 'leafScript' | 'leafHash'>,
): TaprootOutput {
  const merkleRoot = leafScript === null ? (leafHash ?? null) : leafHashOf(leafScript);
  const tweaked = xOnlyPointAddTweak(internalKey, tagSchnorr('TapTweak', internalKey, merkleRoot ?? noRoot));
  if (tweaked === null) throw new Error('a key and its tweak give the point at infinity');
  const { xOnlyPubkey: outputKey, parity } = tweaked;
  const controlBlock = merkleRoot === null ? null : Uint8Array.of(leafVersion | parity, ...internalKey);
  return { script: Uint8Array.of(0x51, 0x20, ...outputKey), outputKey, merkleRoot, controlBlock };
}
