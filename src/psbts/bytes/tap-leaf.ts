import { taprootTweakPubkey } from '@scure/btc-signer/utils.js';
import { taggedHash } from '#kernel/bitcoin/signature-hashes.ts';
import { compactSize } from '#kernel/bitcoin/transaction-bytes.ts';
import type { TapLeaf } from './psbt.ts';

/** The version of tapscript (BIP 342). No other leaf version has a meaning. */
export const tapscriptVersion = 0xc0;
/** Maximum number of levels of a script tree (BIP 341, TAPROOT_CONTROL_MAX_NODE_COUNT). */
const levelsMax = 128;

/** The hash of a leaf (BIP 341). */
export const leafHashOf = ({ script, version }: Pick<TapLeaf, 'script' | 'version'>): Uint8Array =>
  taggedHash('TapLeaf', Buffer.of(version), compactSize(script.length), script);

/**
 * Whether an output key commits to a leaf, according to the control block (BIP 341). Takes some milliseconds. Total.
 */
export function isCommitted(leaf: TapLeaf, leafHash: Uint8Array, outputKey: Uint8Array): boolean {
  const { controlBlock, version } = leaf;
  const [first = 0] = controlBlock;
  const path = controlBlock.subarray(33);
  if (controlBlock.length < 33 || path.length % 32 !== 0 || path.length > 32 * levelsMax) return false;
  if ((first & 0xfe) !== version) return false;
  let root = leafHash;
  for (let at = 0; at < path.length; at += 32) {
    const sibling = path.subarray(at, at + 32);
    const pair = Buffer.compare(root, sibling) < 0 ? [root, sibling] : [sibling, root];
    root = taggedHash('TapBranch', ...pair);
  }
  try {
    const [key, parity] = taprootTweakPubkey(controlBlock.subarray(1, 33), root);
    return parity === (first & 1) && Buffer.compare(key, outputKey) === 0;
  } catch {
    // the internal key is not a point
    return false;
  }
}
