import type { BlockLayout } from '#indexer/transaction/block-layout.ts';
import { expandFingerprintKey } from '#indexer/transaction/outpoint-fingerprint.ts';
import type { Height } from '#kernel/primitives/height.ts';
import type { NetworkName } from '#kernel/primitives/network.ts';
import type { EncodedFacts } from './block-facts.ts';
import type { Fact, FactSet } from './fact.ts';
import { OutputReader } from './read-outputs.ts';
import { readRunestoneCandidates } from './runestone-candidates.ts';
import { readSpentScripts } from './spent-scripts.ts';

/** A parsed block whose spent outputs fit it. */
export interface FactualBlock {
  readonly block: Uint8Array;
  readonly spent: Uint8Array | null;
  readonly height: Height;
  readonly network: NetworkName;
  readonly fingerprintKey: Uint8Array;
}

let outputReader: OutputReader | null = null;

/** Reads the requested facts only. `signatures` are read on demand (./signatures.ts). */
export function readFacts(asked: FactSet, block: FactualBlock, layout: BlockLayout): EncodedFacts {
  const encoded = new Map<Fact, ArrayBuffer>();
  if (asked.has('outputs')) {
    outputReader ??= new OutputReader();
    const { height, network } = block;
    const key = expandFingerprintKey(block.fingerprintKey);
    encoded.set('outputs', outputReader.read(block.block, layout, { height, network, key }));
  }
  if (asked.has('spent-scripts') && block.spent !== null) {
    encoded.set('spent-scripts', readSpentScripts(block.spent, layout));
  }
  if (asked.has('runestone-candidates')) {
    encoded.set('runestone-candidates', readRunestoneCandidates(block.block, layout));
  }
  return encoded;
}
