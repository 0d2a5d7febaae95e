import { BlockLayout, headerLength } from '#indexer/transaction/block-layout.ts';
import { doubleSha256 } from '#indexer/transaction/double-sha256.ts';
import { type BrokenBlock, readLayout } from '#indexer/transaction/read-layout.ts';
import { OutputWalk } from '#indexer/transaction/transaction-parts.ts';
import { blockWeightMax } from '#kernel/bitcoin/consensus.ts';
import { hasProofOfWork } from '#kernel/bitcoin/proof-of-work.ts';
import { asBlockHash, type BlockHash } from '#kernel/primitives/hash.ts';
import type { Height } from '#kernel/primitives/height.ts';
import type { NetworkName } from '#kernel/primitives/network.ts';
import { addStripped } from './add-stripped.ts';
import { DistinctInputs } from './distinct-inputs.ts';
import { HashTree } from './hash-tree.ts';

export type Verification = { readonly ok: true } | ({ readonly ok: false } & BrokenBlock);

export interface Claim {
  /** The expected hash in internal order. */
  readonly hash: BlockHash;
  readonly height: Height;
  readonly network: NetworkName;
}

const merkleRootAt = 36;
const bitsAt = 72;
const witnessScaleFactor = 4;

/**
 * Height from which on the coinbase must have a witness, if it commits to witnesses (Bitcoin Core
 * kernel/chainparams.cpp `SegwitHeight`).
 */
const segwitHeights: Readonly<Record<NetworkName, number>> = {
  mainnet: 481_824,
  testnet3: 834_624,
  testnet4: 1,
  signet: 1,
  regtest: 0,
};

/** First bytes of a witness commitment: OP_RETURN, a push of 36 bytes, and the four bytes of BIP 141. */
const commitmentHead = Buffer.from('6a24aa21a9ed', 'hex');
const commitmentLengthMin = 38;

/**
 * Whether the bytes are the block that they claim to be. The header hashes to the expected hash, with the proof of work
 * that it states and its network requires. The transactions match its merkle root, without duplicates (CVE-2012-2459).
 * Their witnesses match the coinbase's commitment (BIP 141); without a commitment there are no witnesses. No two inputs
 * spend the same output. If all this is true, the hash proves every byte of the block. Signatures, amounts and the link
 * to the parent are not checked.
 *
 * Cost: the bytes twice through sha256 (txid and wtxid), and two small hashes per transaction for each tree.
 *
 * @param layout receives the layout of the block, for later steps
 */
export function verifyBlock(block: Uint8Array, claim: Claim, layout: BlockLayout = kept): Verification {
  if (block.length > blockWeightMax) {
    return {
      ok: false,
      code: 'block_oversized',
      at: blockWeightMax,
      message: 'it is longer than any valid block',
    };
  }
  if (block.length <= headerLength) {
    return {
      ok: false,
      code: 'block_truncated',
      at: block.length,
      message: 'the block ends within its header',
    };
  }
  const header = Buffer.from(block.buffer, block.byteOffset, headerLength);
  const hash = asBlockHash(doubleSha256(header));
  if (Buffer.compare(hash, claim.hash) !== 0)
    return corrupt(0, 'the hash of the header is not the hash of the block');
  if (!hasProofOfWork(hash, header.readUInt32LE(bitsAt), claim.network)) {
    return corrupt(bitsAt, 'the header lacks the proof of work that its network requires');
  }
  const broken = readLayout(block, layout);
  return broken === null ? verifyTransactions(block, header, layout, claim) : { ok: false, ...broken };
}

function verifyTransactions(
  block: Uint8Array,
  header: Buffer,
  layout: BlockLayout,
  claim: Claim,
): Verification {
  if (layout.transactionCount === 0) return corrupt(headerLength, 'the block has no transactions');
  if (layout.emptyWitnessAt >= 0) {
    return corrupt(layout.emptyWitnessAt, 'a transaction has a marker but no witness');
  }
  const hashes = hashTransactions(block, layout);
  if (hashes.weight > blockWeightMax) {
    return { ok: false, code: 'block_oversized', at: block.length, message: 'the block is too heavy' };
  }
  // keep the txids for later steps, because the tree overwrites them
  txids.flush();
  layout.keepTxids(txids.leaves);
  const distinct = txids.fold();
  if (!distinct) return corrupt(headerLength, 'transactions are duplicated (CVE-2012-2459)');
  if (header.compare(txids.leaves, 0, 32, merkleRootAt, merkleRootAt + 32) !== 0) {
    return corrupt(merkleRootAt, 'the transactions do not match the merkle root');
  }
  const doubledAt = inputs.findDoubled(block, layout);
  if (doubledAt >= 0) return corrupt(doubledAt, 'an output is spent twice');
  return verifyWitnesses(block, layout, hashes.anyWitness, claim) ?? { ok: true };
}

/** Layout for callers that do not need it. */
const kept = new BlockLayout();
/** The trees of the current block, kept to reuse their memory. */
const txids = new HashTree();
const wtxids = new HashTree();
const inputs = new DistinctInputs();

/** Fills the trees of txids and wtxids. */
function hashTransactions(block: Uint8Array, layout: BlockLayout): { weight: number; anyWitness: boolean } {
  const { start, outputsEnd, transactionCount } = layout;
  txids.reset(transactionCount);
  wtxids.reset(transactionCount);
  let strippedLength = start[0]!;
  let anyWitness = false;
  for (let tx = 0; tx < transactionCount; tx++) {
    const from = start[tx]!;
    const end = start[tx + 1]!;
    if (layout.hasWitness(tx)) anyWitness = true;
    strippedLength += addStripped(txids, tx, block, from, outputsEnd[tx]!, end);
    // the wtxid of a coinbase is zero by rule, because the coinbase has the commitment
    if (tx > 0) wtxids.add(tx, block, [from, end]);
  }
  return { weight: strippedLength * (witnessScaleFactor - 1) + block.length, anyWitness };
}

/** Checks witnesses as Bitcoin Core's `CheckWitnessMalleation` (validation.cpp) does for BIP 141. */
function verifyWitnesses(
  block: Uint8Array,
  layout: BlockLayout,
  anyWitness: boolean,
  claim: Claim,
): Verification | null {
  const at = commitmentOffset(block, layout.outputsAt[0]!);
  if (at === null) {
    return anyWitness ? corrupt(headerLength, 'there are witnesses without a commitment') : null;
  }
  // before the rule was active, a coinbase could contain bytes that look like a commitment
  if (!anyWitness && claim.height < segwitHeights[claim.network]) return null;
  const reservedAt = layout.hasWitness(0) ? reservedValue(block, layout.outputsEnd[0]!) : null;
  if (reservedAt === null) {
    return corrupt(
      headerLength,
      'the coinbase commits to witnesses, but lacks the reserved value of 32 bytes',
    );
  }
  wtxids.fold();
  const committed = Buffer.concat([
    wtxids.leaves.subarray(0, 32),
    block.subarray(reservedAt, reservedAt + 32),
  ]);
  const commitment = doubleSha256(committed);
  if (!commitment.equals(block.subarray(at, at + 32))) {
    return corrupt(at, 'the witnesses do not match the commitment in the coinbase');
  }
  return null;
}

/**
 * Offset of the 32 bytes of the commitment. It is in the last output of the coinbase whose script begins with a
 * commitment's first bytes.
 */
function commitmentOffset(block: Uint8Array, outputsAt: number): number | null {
  const walk = new OutputWalk(block);
  walk.open(outputsAt);
  let found: number | null = null;
  while (walk.next()) {
    const { scriptStart, scriptLength } = walk;
    const isCommitment =
      scriptLength >= commitmentLengthMin &&
      commitmentHead.equals(block.subarray(scriptStart, scriptStart + commitmentHead.length));
    if (isCommitment) found = scriptStart + commitmentHead.length;
  }
  return found;
}

/**
 * Offset of the coinbase's reserved value. The coinbase's witness, at `at`, must be one item of 32 bytes; otherwise
 * null.
 */
function reservedValue(block: Uint8Array, at: number): number | null {
  return block[at] === 1 && block[at + 1] === 32 ? at + 2 : null;
}

function corrupt(at: number, message: string): Verification {
  return { ok: false, code: 'block_corrupt', at, message };
}
