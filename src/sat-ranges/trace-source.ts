import type { Asker } from '#kernel/contracts/asker.ts';
import type { PastTransaction } from '#kernel/contracts/past-chain.ts';
import type { BlockHashHex, TxidHex } from '#kernel/primitives/hash.ts';
import type { Height } from '#kernel/primitives/height.ts';
import type { MadeOutput } from '#kernel/satributes/satribute.ts';
import type { SatRange } from '#kernel/sats/sat-range.ts';

/** An output, identified by its txid in display order and its index. */
export interface TracedOutpoint {
  readonly txid: TxidHex;
  readonly vout: number;
}

/** An output of the chain. */
export interface TracedOutput extends TracedOutpoint {
  /** Value in sats. All values in this file are in sats. */
  readonly value: number;
  readonly height: Height;
  readonly blockHash: BlockHashHex;
}

/** The parts of a transaction that determine the movement of its sats. */
export type TracedTransaction = Pick<PastTransaction, 'inputs' | 'outputs'>;

/** A transaction that pays a fee. The fee consists of the input sats after the first `outputsTotal` sats. */
export interface FeePayer {
  readonly txid: TxidHex;
  readonly outputsTotal: number;
  readonly fee: number;
}

/** The reason why data is not available, in words for people. */
export interface Missing {
  readonly missing: string;
}

/**
 * Reads the ranges of an unspent output from an index of all sats. Returns null if the index does not have the ranges.
 */
export type IndexedRanges = (
  output: TracedOutput,
  signal: AbortSignal | null,
) => Promise<readonly SatRange[] | null>;

/** A source of transactions. Each call throws the codes of NodeRpc if the node does not answer. */
export interface TraceSource {
  /**
   * Reads an unspent output. Returns null if the chain has no such unspent output. Throws the signal's reason after the
   * client has disconnected.
   *
   * @param asker the client. Absent: the work is not for a client.
   */
  output(outpoint: TracedOutpoint, asker?: Asker): Promise<TracedOutput | null>;
  /** Reads an output of a known transaction and block, even if the output is spent. */
  madeOutput(output: MadeOutput): Promise<TracedOutput | Missing>;
  /** An index of all sats. If it is absent, all sats are traced back. */
  readonly indexed?: IndexedRanges | undefined;
  transaction(txid: TxidHex, height: Height): Promise<TracedTransaction | Missing>;
  /** The transactions of a block that pay fees, in the order of the block. */
  feePayers(height: Height): Promise<readonly FeePayer[] | Missing>;
  /** Whether the chain still has this block at this height. */
  isOnChain(height: Height, blockHash: BlockHashHex): Promise<boolean>;
}
