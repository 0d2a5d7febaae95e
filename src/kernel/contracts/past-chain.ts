import type { TxidHex } from '#kernel/primitives/hash.ts';
import type { Height } from '#kernel/primitives/height.ts';
import type { BlockRef } from './block-source.ts';

/** An output by its transaction and index, as shown, with its value in sats. */
export interface PastOutput {
  readonly txid: TxidHex;
  readonly vout: number;
  readonly value: number;
  /** Of the block that made it. */
  readonly height: Height;
}

/** A transaction of a block, with what it spends. */
export interface PastTransaction {
  readonly txid: TxidHex;
  /** Null: the coinbase. */
  readonly inputs: readonly PastOutput[] | null;
  /** Values in sats, in order. */
  readonly outputs: readonly number[];
}

/** A place between two sats of an output. */
export interface PlaceInOutput {
  readonly txid: TxidHex;
  readonly vout: number;
  /** Of the block that made the output. */
  readonly height: Height;
  /** How many of the output's sats lie before it: from 1 to its value - 1. */
  readonly offset: number;
}

/**
 * The past of the indexed chain, from a node that still has its blocks, also those that left the node's best chain.
 * Everything throws `sats_forgotten` where the node does not have a block or what it spent, and the codes of NodeRpc.
 */
export interface PastChain {
  /** The transactions of an indexed block, in order, the coinbase first. */
  transactions(ref: BlockRef, signal?: AbortSignal): Promise<readonly PastTransaction[]>;
  /** Per place: whether the ranges of the output were cut there when it was made, as ord cuts them. */
  cuts(places: readonly PlaceInOutput[], signal?: AbortSignal): Promise<readonly boolean[]>;
}
