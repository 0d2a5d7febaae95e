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
export function int4Array(
  values: readonly number[],
  order: Uint32Array = Uint32Array.from(values.keys()),
): Buffer {
  const bytes = Buffer.allocUnsafe(headBytes + elementBytes * order.length);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  [1, 0, int4Oid, order.length, 1].forEach((word, at) => view.setInt32(at * 4, word));
  let at = headBytes;
  for (const place of order) {
    view.setInt32(at, 4);
    view.setInt32(at + 4, values[place]!);
    at += elementBytes;
  }
  return bytes;
}
