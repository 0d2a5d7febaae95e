import { HashTree } from '#indexer/source/hash-tree.ts';
import type { BlockLayout } from '#indexer/transaction/block-layout.ts';
import { expandFingerprintKey } from '#indexer/transaction/outpoint-fingerprint.ts';
import type { Height } from '#kernel/primitives/height.ts';
import type { NetworkName } from '#kernel/primitives/network.ts';
import type { EncodedFacts } from './block-facts.ts';
import type { Fact, FactSet } from './fact.ts';
import { hashTransactions } from './hash-transactions.ts';
import { FlowReader } from './read-flow.ts';
import { OutputReader } from './read-outputs.ts';
import { readRunestoneCandidates } from './runestone-candidates.ts';
import { readSpentScripts } from './spent-scripts.ts';

/** A parsed block whose spent outputs match it. */
export interface FactualBlock {
  readonly block: Uint8Array;
  readonly spent: Uint8Array | null;
  readonly height: Height;
  readonly network: NetworkName;
  readonly fingerprintKey: Uint8Array;
}

let outputReader: OutputReader | null = null;
let flowReader: FlowReader | null = null;
let txids: HashTree | null = null;

/** Txids of an unchecked block. */
function hashedTxids(block: Uint8Array, layout: BlockLayout): Uint8Array<ArrayBuffer> {
  txids ??= new HashTree();
  hashTransactions(txids, block, layout);
  return txids.leaves;
}

/** Encodes the requested facts. `signatures` are read on demand instead (./signatures.ts). */
export function readFacts(asked: FactSet, block: FactualBlock, layout: BlockLayout): EncodedFacts {
  const encoded = new Map<Fact, ArrayBuffer>();
  if (asked.has('outputs') || asked.has('coin-flow')) {
    const leaves = layout.txids ?? hashedTxids(block.block, layout);
    const { height, network } = block;
    const key = expandFingerprintKey(block.fingerprintKey);
    if (asked.has('outputs')) {
      outputReader ??= new OutputReader();
      encoded.set('outputs', outputReader.read(block.block, layout, { height, network, key, txids: leaves }));
    }
    if (asked.has('coin-flow')) {
      flowReader ??= new FlowReader();
      encoded.set('coin-flow', flowReader.read(block.block, layout, leaves, key));
    }
  }
  if (asked.has('spent-scripts') && block.spent !== null) {
    encoded.set('spent-scripts', readSpentScripts(block.spent, layout));
  }
  if (asked.has('runestone-candidates')) {
    encoded.set('runestone-candidates', readRunestoneCandidates(block.block, layout));
  }
  return encoded;
}
