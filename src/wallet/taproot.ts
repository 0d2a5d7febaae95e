import { tapLeafHash } from '@scure/btc-signer/payment.js';
import { tagSchnorr } from '@scure/btc-signer/utils.js';
import { xOnlyPointAddTweak } from 'tiny-secp256k1';
import type { OwnScript } from '#kernel/contracts/transaction-plan.ts';

/** The leaf version of tapscript (BIP 342). The control block also contains it. */
export const leafVersion = 0xc0;

/** A P2TR output with at most one leaf (BIP 341). */
export interface TaprootOutput {
  /** The script: OP_1 and the output key. */
  readonly script: Uint8Array;
  readonly outputKey: Uint8Array;
  /** The hash of the only leaf; the output key commits to this hash. null: no leaf. */
  readonly merkleRoot: Uint8Array | null;
  /** The control block, which a spend through the leaf reveals as proof together with the leaf. null: no leaf. */
  readonly controlBlock: Uint8Array | null;
}

const noRoot = new Uint8Array(0);

/** The hash of a leaf. With this hash, the output can be spent by key even after the leaf is deleted. */
export const leafHashOf = (leafScript: Uint8Array): Uint8Array => tapLeafHash(leafScript, leafVersion);

/**
 * The output of an internal key (x-only) and a leaf or its hash, or of only the key (BIP 86). libsecp256k1 adds the
 * points; each address is also proven with other arithmetic (prove-spendable.ts). Throws if the key is not a point.
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
