import { type ColumnsOf, decodeColumns, encodeColumns } from '#indexer/parse/column-buffer.ts';

/** The outputs that a block makes and spends: the fact `outputs`. Reading it needs the txid of every transaction. */
const columnTypes = {
  /** Value in sats, exact. One element per spendable output, in block order. */
  value: Float64Array,
  /** Index of the output's transaction in `txid`. */
  tx: Uint32Array,
  vout: Uint32Array,
  /** Range of the script in the bytes of the block. */
  scriptStart: Uint32Array,
  scriptLength: Uint32Array,
  /** Offsets in the block of the 36-byte outpoints that it spends from earlier blocks. */
  spendAt: Uint32Array,
  /** Txids of all transactions: 32 bytes each, internal order. */
  txid: Uint8Array,
  /** 1 if the output is spent within the block. */
  spent: Uint8Array,
} as const;

export type OutputColumns = ColumnsOf<typeof columnTypes>;

const version = 2;

/** Encodes columns into a buffer of exactly their size. */
export const encodeOutputColumns = (columns: OutputColumns): ArrayBuffer =>
  encodeColumns(columnTypes, version, columns);

/** Views of encoded columns. Throws if the buffer is incomplete. */
export const decodeOutputColumns = (buffer: ArrayBuffer): OutputColumns =>
  decodeColumns(columnTypes, version, buffer, 'output columns');
