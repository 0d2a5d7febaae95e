import type { BlockColumns } from '#indexer/parse/block-columns.ts';
import type { Fact, FactSet } from './fact.ts';
import { decodeFlowColumns, type FlowColumns } from './flow-columns.ts';
import { decodeOutputColumns, type OutputColumns } from './output-columns.ts';
import { openRunestoneCandidates, type RunestoneCandidates } from './runestone-candidates.ts';
import { SignatureReader } from './signatures.ts';
import { openSpentScripts, type SpentScripts } from './spent-scripts.ts';

/**
 * The optional facts of one block. A fact is absent if it was not requested. Facts are views of buffers, which are
 * reused once the block is released.
 */
export interface BlockFacts {
  readonly outputs?: OutputColumns;
  readonly flow?: FlowColumns;
  /** Null: the source does not know the spent outputs. */
  readonly spentScripts?: SpentScripts | null;
  readonly runestoneCandidates?: RunestoneCandidates;
  readonly signatures?: SignatureReader;
}

/** The requested facts of a block as a worker encoded them. Their buffers are transferred. */
export type EncodedFacts = ReadonlyMap<Fact, ArrayBuffer>;

export interface ReadBlock {
  readonly bytes: Uint8Array;
  readonly columns: BlockColumns;
  /** Spent outputs from the source. Null: unknown. */
  readonly spent: Uint8Array | null;
}

/** Decodes the facts of a block, on the thread that requested them. */
export function openFacts(asked: FactSet, encoded: EncodedFacts, block: ReadBlock): BlockFacts {
  const outputs = encoded.get('outputs');
  const flow = encoded.get('coin-flow');
  const scripts = encoded.get('spent-scripts');
  const candidates = encoded.get('runestone-candidates');
  const { bytes, columns, spent } = block;
  const spentScripts =
    scripts === undefined || spent === null ? null : openSpentScripts(scripts, spent, columns.inputValue);
  return {
    ...(outputs === undefined ? {} : { outputs: decodeOutputColumns(outputs) }),
    ...(flow === undefined ? {} : { flow: decodeFlowColumns(flow) }),
    ...(asked.has('spent-scripts') ? { spentScripts } : {}),
    ...(candidates === undefined ? {} : { runestoneCandidates: openRunestoneCandidates(candidates) }),
    ...(asked.has('signatures') ? { signatures: new SignatureReader(bytes, columns) } : {}),
  };
}
