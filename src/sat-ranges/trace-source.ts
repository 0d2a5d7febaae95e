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

/** The part of a transaction that says which way its sats went. */
export type TracedTransaction = Pick<PastTransaction, 'inputs' | 'outputs'>;

/** A transaction that pays a fee: its inputs' sats behind those of its outputs. */
export interface FeePayer {
  readonly txid: TxidHex;
  readonly outputsTotal: number;
  readonly fee: number;
}

/** Why something cannot be had, in words for people. */
export interface Missing {
  readonly missing: string;
}

/** The ranges of an unspent output in an index of all sats; null: it does not have them. */
export type IndexedRanges = (
  output: TracedOutput,
  signal: AbortSignal | null,
) => Promise<readonly SatRange[] | null>;

/** Where transactions come from. Everything throws the codes of NodeRpc where the node does not answer. */
export interface TraceSource {
  /**
   * Null: the chain has no such unspent output. Throws the signal's reason once the asker is gone.
   *
   * @param asker absent: nobody in particular
   */
  output(outpoint: TracedOutpoint, asker?: Asker): Promise<TracedOutput | null>;
  /** An output by its transaction and block, whether it is spent or not. */
  madeOutput(output: MadeOutput): Promise<TracedOutput | Missing>;
  /** Absent: there is no index, and all sats are walked back. */
  readonly indexed?: IndexedRanges | undefined;
  transaction(txid: TxidHex, height: Height): Promise<TracedTransaction | Missing>;
  /** The transactions of a block that pay fees, in its order. */
  feePayers(height: Height): Promise<readonly FeePayer[] | Missing>;
  /** Whether the block is still the one of the chain at its height. */
  isOnChain(height: Height, blockHash: BlockHashHex): Promise<boolean>;
}
