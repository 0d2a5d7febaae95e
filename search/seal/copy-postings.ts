import type { PostingsBlocks } from './blocks-writer.ts';

// PostgreSQL manual, COPY, "Binary Format": signature, flags, length of the header's extension; then for each
// row the number of fields (16 bits) and each field's length (32 bits, -1 null) and bytes; then -1. Big endian.
const signature = Buffer.from('PGCOPY\n\u00ff\r\n\0', 'latin1');
const headerBytes = signature.length + 8;
const end = -1;

/**
 * Calls `each` with the rows of a COPY of (integer, bytea) until `each` returns false. Returns the id of that row.
 * Null: `each` never returned false.
 */
export function readTextRows(
  copy: Uint8Array,
  each: (id: number, text: Uint8Array) => boolean,
): number | null {
  const view = new DataView(copy.buffer, copy.byteOffset, copy.byteLength);
  let at = headerBytes + view.getInt32(signature.length + 4);
  while (view.getInt16(at) !== end) {
    const id = view.getInt32(at + 6);
    const length = view.getInt32(at + 10);
    if (!each(id, copy.subarray(at + 14, at + 14 + length))) return id;
    at += 14 + length;
  }
  return null;
}

/** A COPY of rows (first_gram bigint, segment_id integer, block bytea). */
export function postingsRows(blocks: PostingsBlocks, segmentId: number): Uint8Array<ArrayBuffer> {
  const count = blocks.firstGrams.length;
  // the number of fields, lengths and values of the first two, and the length of the third
  const rowHeadBytes = 2 + 4 + 8 + 4 + 4 + 4;
  const copy = new Uint8Array(headerBytes + count * rowHeadBytes + blocks.bytes.length + 2);
  const view = new DataView(copy.buffer);
  copy.set(signature, 0);
  let at = headerBytes;
  for (const [index, [high, low]] of blocks.firstGrams.entries()) {
    const block = blocks.bytes.subarray(blocks.starts[index], blocks.starts[index + 1]);
    view.setInt16(at, 3);
    view.setInt32(at + 2, 8);
    view.setInt32(at + 6, high);
    view.setInt32(at + 10, low);
    view.setInt32(at + 14, 4);
    view.setInt32(at + 18, segmentId);
    view.setInt32(at + 22, block.length);
    copy.set(block, at + rowHeadBytes);
    at += rowHeadBytes + block.length;
  }
  view.setInt16(at, end);
  return copy;
}
