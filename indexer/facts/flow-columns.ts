import { type ColumnsOf, decodeColumns, encodeColumns } from '#indexer/parse/column-buffer.ts';

/**
 * The way of values through a block: the fact `coin-flow`. All outputs, also those that nobody can spend, and for each
 * input the output that it spends.
 */
const columnTypes = {
  /** Sats, exact. One element per output, in block order. */
  value: Float64Array,
  /** Low half of the keyed fingerprint of each output's outpoint, as a signed number. */
  fingerprint: Int32Array,
  /** Row of the first output of each transaction; one element more: the number of outputs. */
  txFirstOutput: Uint32Array,
  /** Per input, the coinbase's too: row of the output that it spends; -1: one of an earlier block, or none. */
  source: Int32Array,
  /** Per input: offset in the block of its outpoint, 36 bytes. */
  outpointAt: Uint32Array,
  /** 32 bytes each, internal order; of all transactions. */
  txid: Uint8Array,
} as const;

export type FlowColumns = ColumnsOf<typeof columnTypes>;

const version = 2;

/** Encodes columns into a buffer of exactly their size. */
export const encodeFlowColumns = (columns: FlowColumns): ArrayBuffer =>
  encodeColumns(columnTypes, version, columns);

/** Views of encoded columns. Throws where the buffer does not hold them. */
export const decodeFlowColumns = (buffer: ArrayBuffer): FlowColumns =>
  decodeColumns(columnTypes, version, buffer, 'flow columns');
