import type { BlockHash } from '#kernel/primitives/hash.ts';
import type { NetworkName } from '#kernel/primitives/network.ts';

/** The easiest target of each network, in compact form (Bitcoin Core kernel/chainparams.cpp `powLimit`). */
const limits: Readonly<Record<NetworkName, number>> = {
  mainnet: 0x1d00ffff,
  testnet3: 0x1d00ffff,
  testnet4: 0x1d00ffff,
  signet: 0x1e0377ae,
  regtest: 0x207fffff,
};

/**
 * A compact target as a number (Bitcoin Core arith_uint256 `SetCompact`). `null` if it is negative, zero or too large.
 */
function targetOf(bits: number): bigint | null {
  const size = bits >>> 24;
  const word = bits & 0x007fffff;
  if ((bits & 0x00800000) !== 0 && word !== 0) return null;
  const target =
    size <= 3 ? BigInt(word >>> (8 * (3 - size))) : BigInt(word) << BigInt(8 * Math.min(size - 3, 40));
  return target === 0n || target >= 1n << 256n ? null : target;
}

/**
 * Whether the hash of a header (32 bytes, internal order) is below the target that the header claims, and whether this
 * target is not easier than the network allows. Only earlier headers show whether the target is right for its height.
 */
export function hasProofOfWork(hash: BlockHash, bits: number, network: NetworkName): boolean {
  const target = targetOf(bits);
  const limit = targetOf(limits[network]);
  if (target === null || limit === null || target > limit) return false;
  return BigInt(`0x${Buffer.from(hash).reverse().toString('hex')}`) <= target;
}

/**
 * Average number of hashes that a block with this compact target needs (Bitcoin Core chain.cpp `GetBlockProof`).
 * Returns 0 for an impossible target.
 */
export function workOfBits(bits: number): bigint {
  const target = targetOf(bits);
  return target === null ? 0n : (1n << 256n) / (target + 1n);
}
