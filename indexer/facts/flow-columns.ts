import { type ColumnsOf, decodeColumns, encodeColumns } from '#indexer/parse/column-buffer.ts';

/**
 * Flow of values through a block: the fact `coin-flow`. It has all outputs, including unspendable outputs, and for each
 * input the output that the input spends.
 */
const columnTypes = {
  /** Value in sats, exact. One element per output, in block order. */
  value: Float64Array,
  /** Low half of the keyed fingerprint of each output's outpoint, as a signed number. */
  fingerprint: Int32Array,
  /** Row of the first output of each transaction, and one more element: the number of outputs. */
  txFirstOutput: Uint32Array,
  /**
   * Row of the output that each input spends, including the coinbase's input. -1: an output of an earlier block, or no
   * output.
   */
  source: Int32Array,
  /** Offset in the block of each input's outpoint (36 bytes). */
  outpointAt: Uint32Array,
  /** Txids of all transactions: 32 bytes each, internal order. */
  txid: Uint8Array,
} as const;

export type FlowColumns = ColumnsOf<typeof columnTypes>;

const version = 2;

/** Encodes columns into a buffer of exactly their size. */
export const encodeFlowColumns = (columns: FlowColumns): ArrayBuffer =>
  encodeColumns(columnTypes, version, columns);

/** Views of encoded columns. Throws if the buffer is incomplete. */
export const decodeFlowColumns = (buffer: ArrayBuffer): FlowColumns =>
  decodeColumns(columnTypes, version, buffer, 'flow columns');
