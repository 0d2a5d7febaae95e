/** Oid of int4 in pg_type. */
const int4Oid = 23;
/**
 * Number of bytes of the head. It has the number of dimensions, a flag for nulls, and the type of the elements. Then
 * the only dimension has its length and first index.
 */
const headBytes = 5 * 4;
const elementBytes = 2 * 4;

/**
 * A parameter of type integer[] in the binary format (array_recv of PostgreSQL). For client and server, it costs a
 * fraction of the text `{1,2,…}`.
 *
 * @param order indexes of `values` in the wanted order; if absent, all values in their own order
 */
export function int4Array(values: readonly number[], order: Uint32Array | null = null): Buffer {
  const count = order === null ? values.length : order.length;
  const bytes = Buffer.allocUnsafe(headBytes + elementBytes * count);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  view.setInt32(0, 1);
  view.setInt32(4, 0);
  view.setInt32(8, int4Oid);
  view.setInt32(12, count);
  view.setInt32(16, 1);
  let at = headBytes;
  for (let place = 0; place < count; place++) {
    view.setInt32(at, 4);
    view.setInt32(at + 4, values[order === null ? place : order[place]!]!);
    at += elementBytes;
  }
  return bytes;
}
