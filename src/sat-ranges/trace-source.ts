import type { Asker } from '#kernel/contracts/asker.ts';
import type { PastTransaction } from '#kernel/contracts/past-chain.ts';
import type { BlockHashHex, TxidHex } from '#kernel/primitives/hash.ts';
import type { Height } from '#kernel/primitives/height.ts';
import type { MadeOutput } from '#kernel/satributes/satribute.ts';
import type { SatRange } from '#kernel/sats/sat-range.ts';

/** An output by its transaction and index, as shown. */
export interface TracedOutpoint {
  readonly txid: TxidHex;
  readonly vout: number;
}

/** An output of the chain. */
export interface TracedOutput extends TracedOutpoint {
  /** In sats, like all values here. */
  readonly value: number;
  readonly height: Height;
  readonly blockHash: BlockHashHex;
}

/** The parts of a transaction that decide the flow of its sats. */
export type TracedTransaction = Pick<PastTransaction, 'inputs' | 'outputs'>;

/** A transaction that pays a fee: its inputs' sats after those of its outputs. */
export interface FeePayer {
  readonly txid: TxidHex;
  readonly outputsTotal: number;
  readonly fee: number;
}

/** Why something is not available, in words for people. */
export interface Missing {
  readonly missing: string;
}

/** The ranges of an unspent output in an index of all sats; null: it lacks them. */
export type IndexedRanges = (
  output: TracedOutput,
  signal: AbortSignal | null,
) => Promise<readonly SatRange[] | null>;

/** A source of transactions. Every call throws the codes of NodeRpc if the node does not answer. */
export interface TraceSource {
  /**
   * An unspent output. Null: the chain has no such unspent output. Throws the signal's reason once the asker has left.
   *
   * @param asker absent: work without a client
   */
  output(outpoint: TracedOutpoint, asker?: Asker): Promise<TracedOutput | null>;
  /** An output by its transaction and block, even if it is spent. */
  madeOutput(output: MadeOutput): Promise<TracedOutput | Missing>;
  /** Absent: there is no index, and all sats are traced back. */
  readonly indexed?: IndexedRanges | undefined;
  transaction(txid: TxidHex, height: Height): Promise<TracedTransaction | Missing>;
  /** The transactions of a block that pay fees, in its order. */
  feePayers(height: Height): Promise<readonly FeePayer[] | Missing>;
  /** Whether the block is still the one of the chain at its height. */
  isOnChain(height: Height, blockHash: BlockHashHex): Promise<boolean>;
}
