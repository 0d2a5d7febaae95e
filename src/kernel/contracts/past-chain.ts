import type { TxidHex } from '#kernel/primitives/hash.ts';
import type { MadeOutput } from '#kernel/satributes/satribute.ts';
import type { BlockRef } from './block-source.ts';

/** An output that a block created. */
export interface PastOutput extends MadeOutput {
  /** In sats. */
  readonly value: number;
}

/** A transaction of a block, with the outputs that it spends. */
export interface PastTransaction {
  readonly txid: TxidHex;
  /** Spent outputs. `null` if the transaction is the coinbase, which spends the subsidy and then the fees. */
  readonly inputs: readonly PastOutput[] | null;
  /** Values of the outputs in sats, in order. */
  readonly outputs: readonly number[];
}

/** A position between two sats of an output. */
export interface PlaceInOutput extends MadeOutput {
  /** Number of the output's sats that are before the position, from 1 to the output's value - 1. */
  readonly offset: number;
}

/**
 * The past of the indexed chain. It comes from a node that still has the blocks of the chain, including stale blocks.
 * Every call throws `sats_forgotten` if the node lacks a block or its spent outputs, and the codes of NodeRpc.
 */
export interface PastChain {
  /** The transactions of an indexed block, in order, the coinbase first. */
  transactions(ref: BlockRef, signal?: AbortSignal): Promise<readonly PastTransaction[]>;
  /**
   * Returns for each position whether the ranges of the output were already cut at this position when the output was
   * made, as ord cuts them.
   */
  cuts(places: readonly PlaceInOutput[], signal?: AbortSignal): Promise<readonly boolean[]>;
}
