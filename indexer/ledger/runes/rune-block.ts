import type { RunestoneCandidates } from '#indexer/facts/runestone-candidates.ts';
import type { SpentScripts } from '#indexer/facts/spent-scripts.ts';
import type { BlockColumns } from '#indexer/parse/block-columns.ts';
import { knownCompactSize } from '#indexer/transaction/compact-size.ts';
import type { FingerprintKey } from '#indexer/transaction/outpoint-fingerprint.ts';
import { OutpointReader } from '#indexer/transaction/outpoint-reader.ts';
import type { Height } from '#kernel/primitives/height.ts';
import type { NetworkParameters } from '#kernel/primitives/network.ts';
import type { Rune } from '#kernel/runes/rune.ts';
import type { RuneId } from '#kernel/runes/rune-id.ts';
import type { Artifact } from '#kernel/runes/runestone/artifact.ts';
import type { RecentTransactions } from './commitment.ts';
import { RepeatedRunestones } from './repeated-runestones.ts';

const hashLength = 32;

/** The runestone or cenotaph of a transaction. */
export interface RuneMessage {
  readonly tx: number;
  readonly artifact: Artifact;
  /** Offset of the transaction's txid among the txids of the candidates. */
  readonly txidAt: number;
}

type TransactionColumns = Pick<
  BlockColumns,
  'txStart' | 'txOutputs' | 'txFirstInput' | 'inputFingerprintLow' | 'inputFingerprintHigh'
>;

/** A set of fingerprints of outpoints that may hold runes. */
export interface TrackedFingerprints {
  /** 0: the set is empty. */
  readonly size: number;
  has(low: number, high: number): boolean;
}

/** The parts of a block that the ledger of runes needs. */
export interface RuneBlock {
  readonly height: Height;
  /** Seconds. */
  readonly timestamp: number;
  readonly network: NetworkParameters;
  readonly bytes: Uint8Array;
  readonly columns: TransactionColumns;
  /** One message per transaction that has one, in block order. */
  readonly messages: readonly RuneMessage[];
  /** Txids of the candidates for messages, 32 bytes each. */
  readonly txids: Uint8Array;
  /** Null: the source does not know the spent scripts, so no name can be etched. */
  readonly spentScripts: SpentScripts | null;
  readonly fingerprintKey: FingerprintKey;
  /** Inputs that may spend runes in outputs from before the state's own blocks (`runeQuestion`). */
  readonly inputs: readonly number[];
  readonly recent: RecentTransactions;
}

/**
 * Reads the first candidate of each transaction, because only the first candidate is the runestone, well formed or not.
 */
export function runeMessages(
  bytes: Uint8Array,
  { txOutputs }: Pick<BlockColumns, 'txOutputs'>,
  { tx, scriptStart, scriptLength }: RunestoneCandidates,
): RuneMessage[] {
  const messages: RuneMessage[] = [];
  const runestones = new RepeatedRunestones(bytes);
  for (let candidate = 0; candidate < tx.length; candidate++) {
    const place = tx[candidate]!;
    if (candidate > 0 && tx[candidate - 1] === place) continue;
    const outputs = knownCompactSize(bytes, txOutputs[place]!);
    messages.push({
      tx: place,
      artifact: runestones.read(scriptStart[candidate]!, scriptLength[candidate]!, outputs),
      txidAt: candidate * hashLength,
    });
  }
  return messages;
}

/** Questions about earlier blocks, to be answered before the block is applied. */
export interface RuneQuestion {
  /** The inputs that may spend runes, as indexes into the block's columns, ascending. */
  readonly inputs: readonly number[];
  /** Offsets in the block of the outpoints of these inputs. */
  readonly outpointsAt: readonly number[];
  /** Ids of the runes that the block mints. */
  readonly mints: readonly RuneId[];
  /** The names that the block etches. */
  readonly names: readonly Rune[];
}

/** Finds the questions of a block. Cost: one probe for each input, if any output has runes. */
export function runeQuestion(
  { bytes, columns, messages }: Pick<RuneBlock, 'bytes' | 'columns' | 'messages'>,
  tracked: TrackedFingerprints,
): RuneQuestion {
  const { inputFingerprintLow, inputFingerprintHigh } = columns;
  const inputs: number[] = [];
  const outpointsAt: number[] = [];
  const outpoints = new OutpointReader({ bytes, columns });
  // no output of this chain has runes yet
  const count = tracked.size === 0 ? 0 : inputFingerprintLow.length;
  for (let input = 0; input < count; input++) {
    if (!tracked.has(inputFingerprintLow[input]!, inputFingerprintHigh[input]!)) continue;
    inputs.push(input);
    outpointsAt.push(outpoints.at(input));
  }
  const mints: RuneId[] = [];
  const names: Rune[] = [];
  for (const { artifact } of messages) {
    if (artifact.mint !== null) mints.push(artifact.mint);
    const name = artifact.etching === null ? null : etchedName(artifact);
    if (name !== null) names.push(name);
  }
  return { inputs, outpointsAt, mints, names };
}

/** The name that an artifact would etch. Null: it has no name, or etches no rune. */
export function etchedName(artifact: Artifact): Rune | null {
  return artifact.kind === 'cenotaph' ? artifact.etching : (artifact.etching?.rune ?? null);
}
