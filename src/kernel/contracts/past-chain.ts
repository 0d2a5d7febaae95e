import type { TxidHex } from '#kernel/primitives/hash.ts';
import type { MadeOutput } from '#kernel/satributes/satribute.ts';
import type { BlockRef } from './block-source.ts';

/** An output that a block made. */
export interface PastOutput extends MadeOutput {
  /** In sats. */
  readonly value: number;
}

/** A transaction of a block, with the outputs that it spends. */
export interface PastTransaction {
  readonly txid: TxidHex;
  /** Spent outputs. Null: it is the coinbase, which takes the subsidy and then the fees. */
  readonly inputs: readonly PastOutput[] | null;
  /** Values in sats, in order. */
  readonly outputs: readonly number[];
}

/** A position between two sats of an output. */
export interface PlaceInOutput extends MadeOutput {
  /** Number of the output's sats before the position: from 1 to its value - 1. */
  readonly offset: number;
}

/**
 * The past of the indexed chain, from a node that still has its blocks, including stale ones. Every call throws
 * `sats_forgotten` if the node lacks a block or its spent outputs, and the codes of NodeRpc.
 */
export interface PastChain {
  /** The transactions of an indexed block, in order, the coinbase first. */
  transactions(ref: BlockRef, signal?: AbortSignal): Promise<readonly PastTransaction[]>;
  /** For each position: whether the ranges of the output were already cut there when it was made, as ord cuts them. */
  cuts(places: readonly PlaceInOutput[], signal?: AbortSignal): Promise<readonly boolean[]>;
}
