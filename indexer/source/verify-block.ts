import { doubleSha256 } from '#indexer/transaction/double-sha256.ts';
import { TransactionWalk, WalkError } from '#indexer/transaction/transaction-walk.ts';
import { blockWeightMax } from '#kernel/bitcoin/consensus.ts';
import { hasProofOfWork } from '#kernel/bitcoin/proof-of-work.ts';
import type { NetworkName } from '#kernel/primitives/network.ts';
import { DistinctInputs } from './distinct-inputs.ts';
import { HashTree } from './hash-tree.ts';

export type Verification =
  | { readonly ok: true }
  | {
      readonly ok: false;
      readonly code: 'block_truncated' | 'block_oversized' | 'block_corrupt';
      /** Byte offset in the block at which it showed. */
      readonly at: number;
      readonly message: string;
    };

export interface Claim {
  /** The hash by which the block goes, internal order. */
  readonly hash: Uint8Array;
  readonly height: number;
  readonly network: NetworkName;
}

const headerLength = 80;
const merkleRootAt = 36;
const bitsAt = 72;
const witnessScaleFactor = 4;
/** Shortest transaction: so many cannot be there where a count claims them. */
const transactionLengthMin = 10;

/** From here on a block whose coinbase commits to witnesses has one itself (Bitcoin Core kernel/chainparams.cpp `SegwitHeight`). */
const segwitHeights: Readonly<Record<NetworkName, number>> = {
  mainnet: 481_824,
  testnet3: 834_624,
  testnet4: 1,
  signet: 1,
  regtest: 0,
};

/** OP_RETURN, push of 36 bytes, and the four bytes of BIP 141. */
const commitmentHead = Buffer.from('6a24aa21a9ed', 'hex');
const commitmentLengthMin = 38;

/**
 * Whether the bytes are the block that they claim to be: the header hashes to its name, with the proof of work that it
 * states and its network asks for; the transactions are those of its merkle root, none doubled (CVE-2012-2459); their
 * witnesses are those of the coinbase's commitment (BIP 141), and no witness is there without one; no two of its inputs
 * spend the same output. After that every
 * byte of the block is vouched for by its hash. Signatures, amounts and the link to the parent are not looked at.
 *
 * Cost: the bytes twice through sha256 (txid and wtxid), and two small hashes a transaction for each tree.
 */
export function verifyBlock(block: Uint8Array<ArrayBuffer>, claim: Claim): Verification {
  if (block.length > blockWeightMax) {
    return { ok: false, code: 'block_oversized', at: blockWeightMax, message: 'no valid block is as long' };
  }
  try {
    return verify(block, claim) ?? { ok: true };
  } catch (error) {
    if (!(error instanceof WalkError)) throw error;
    return { ok: false, code: error.code, at: error.at, message: error.message };
  }
}

function verify(block: Uint8Array<ArrayBuffer>, claim: Claim): Verification | null {
  if (block.length <= headerLength) {
    throw new WalkError('block_truncated', block.length, 'the block ends within its header');
  }
  const header = Buffer.from(block.buffer, block.byteOffset, headerLength);
  const hash = doubleSha256(header);
  if (!hash.equals(claim.hash)) return corrupt(0, 'the header does not hash to the name of the block');
  if (!hasProofOfWork(hash, header.readUInt32LE(bitsAt), claim.network)) {
    return corrupt(bitsAt, 'the header lacks the proof of work that its network asks for');
  }
  const hashes = hashTransactions(block);
  if (hashes.weight > blockWeightMax) {
    return { ok: false, code: 'block_oversized', at: block.length, message: 'the block is too heavy' };
  }
  const distinct = txids.fold();
  if (!distinct) return corrupt(headerLength, 'transactions are doubled (CVE-2012-2459)');
  if (header.compare(txids.leaves, 0, 32, merkleRootAt, merkleRootAt + 32) !== 0) {
    return corrupt(merkleRootAt, 'the transactions are not those of the merkle root');
  }
  if (hashes.doubledAt >= 0) return corrupt(hashes.doubledAt, 'an output is spent twice');
  return verifyWitnesses(block, hashes, claim);
}

/** The trees of the block at hand; kept, as their room is worth more than their contents. */
const txids = new HashTree();
const wtxids = new HashTree();
const inputs = new DistinctInputs();

interface TransactionFacts {
  readonly weight: number;
  readonly anyWitness: boolean;
  /** Where an output is spent that was spent before it in the block; -1: nowhere. */
  readonly doubledAt: number;
  readonly coinbase: Coinbase;
}

interface Coinbase {
  readonly outputsAt: number;
  readonly outputsEnd: number;
  readonly hasWitness: boolean;
}

/** Fills both trees. */
function hashTransactions(block: Uint8Array): TransactionFacts {
  const walk = new TransactionWalk(block, headerLength);
  const count = walk.compactSize();
  if (count * transactionLengthMin > block.length) {
    throw new WalkError('block_truncated', block.length, 'the block is too short for its transactions');
  }
  if (count === 0) throw new WalkError('block_corrupt', headerLength, 'the block has no transactions');
  txids.reset(count);
  wtxids.reset(count);
  inputs.reset();
  const bytes = Buffer.from(block.buffer, block.byteOffset, block.length);
  let strippedLength = walk.at;
  let anyWitness = false;
  let doubledAt = -1;
  let coinbase: Coinbase | null = null;
  for (let index = 0; index < count; index++) {
    walk.next();
    const { start, at, hasWitness } = walk;
    coinbase ??= { outputsAt: walk.outputsAt, outputsEnd: walk.outputsEnd, hasWitness };
    const whole = [start, at] as const;
    doubledAt = Math.max(doubledAt, inputs.add(bytes, walk.inputsAt));
    if (hasWitness) {
      anyWitness = true;
      strippedLength += walk.outputsEnd - walk.inputsAt + 8;
      // version, inputs with outputs, locktime
      txids.add(index, block, [start, start + 4], [walk.inputsAt, walk.outputsEnd], [at - 4, at]);
    } else {
      strippedLength += at - start;
      txids.add(index, block, whole);
    }
    // the wtxid of a coinbase counts as zero: it holds the commitment
    if (index > 0) wtxids.add(index, block, whole);
  }
  if (walk.at < block.length) {
    throw new WalkError('block_oversized', walk.at, 'there are bytes behind the last transaction');
  }
  const weight = strippedLength * (witnessScaleFactor - 1) + block.length;
  return { weight, anyWitness, doubledAt, coinbase: coinbase as Coinbase };
}

/** BIP 141 as Bitcoin Core's `CheckWitnessMalleation` (validation.cpp) reads it. */
function verifyWitnesses(
  block: Uint8Array,
  { anyWitness, coinbase }: TransactionFacts,
  claim: Claim,
): Verification | null {
  const at = commitmentOffset(block, coinbase);
  if (at === null) {
    return anyWitness ? corrupt(headerLength, 'there are witnesses that nothing commits to') : null;
  }
  // before the rule was one, a coinbase could look as if it committed to witnesses
  if (!anyWitness && claim.height < segwitHeights[claim.network]) return null;
  const reservedAt = coinbase.hasWitness ? reservedValue(block, coinbase) : null;
  if (reservedAt === null) {
    return corrupt(headerLength, 'the coinbase commits to witnesses without the 32 bytes that belong to it');
  }
  wtxids.fold();
  const committed = Buffer.concat([
    wtxids.leaves.subarray(0, 32),
    block.subarray(reservedAt, reservedAt + 32),
  ]);
  const commitment = doubleSha256(committed);
  if (!commitment.equals(block.subarray(at, at + 32))) {
    return corrupt(at, 'the witnesses are not those that the coinbase commits to');
  }
  return null;
}

/** Where the 32 bytes of the commitment stand: in the last output whose script begins like one. */
function commitmentOffset(block: Uint8Array, coinbase: Coinbase): number | null {
  const walk = new TransactionWalk(block, coinbase.outputsAt);
  let found: number | null = null;
  for (let left = walk.compactSize(); left > 0; left--) {
    walk.at += 8;
    const length = walk.sized();
    const script = walk.at - length;
    if (length >= commitmentLengthMin && commitmentHead.equals(block.subarray(script, script + 6))) {
      found = script + commitmentHead.length;
    }
  }
  return found;
}

/** The coinbase's witness must be one item of 32 bytes; null where it is anything else. */
function reservedValue(block: Uint8Array, coinbase: Coinbase): number | null {
  const at = coinbase.outputsEnd;
  return block[at] === 1 && block[at + 1] === 32 ? at + 2 : null;
}

function corrupt(at: number, message: string): Verification {
  return { ok: false, code: 'block_corrupt', at, message };
}
