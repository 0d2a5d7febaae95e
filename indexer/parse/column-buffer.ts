import { copyBytes } from '#kernel/copy-bytes.ts';

/**
 * Named columns in one buffer, which another thread can read.
 *
 * Layout (little endian): version u32, number of columns u32, then a directory entry per column (byte offset u32,
 * length in elements u32), in the order of their types; then the columns, each aligned to 8 bytes.
 */

type ColumnType =
  | typeof Uint8Array
  | typeof Uint16Array
  | typeof Uint32Array
  | typeof Int32Array
  | typeof Float64Array;

export type ColumnTypes = Readonly<Record<string, ColumnType>>;

/** The columns that types describe, by name. */
export type ColumnsOf<Types extends ColumnTypes> = {
  readonly [Name in keyof Types]: InstanceType<Types[Name]>;
};

const align = (n: number): number => (n + 7) & ~7;
const headBytes = 8;
const entryBytes = 8;

/**
 * Encodes columns into one buffer. The result is `into` if it is large enough (bytes between and after the columns keep
 * their old values), else a new buffer of the exact size.
 */
export function encodeColumns<Types extends ColumnTypes, Into extends ArrayBufferLike = ArrayBuffer>(
  types: Types,
  version: number,
  columns: ColumnsOf<Types>,
  into: Into | null = null,
): Into | ArrayBuffer {
  const names = Object.keys(types);
  const all = names.map((name) => columns[name] as Uint8Array);
  const first = align(headBytes + names.length * entryBytes);
  const size = all.reduce((sum, column) => align(sum + column.byteLength), first);
  const buffer = into !== null && into.byteLength >= size ? into : new ArrayBuffer(size);
  const bytes = new Uint8Array(buffer);
  const head = new DataView(buffer);
  head.setUint32(0, version, true);
  head.setUint32(4, names.length, true);
  let at = first;
  all.forEach((column, index) => {
    head.setUint32(headBytes + index * entryBytes, at, true);
    head.setUint32(headBytes + 4 + index * entryBytes, column.length, true);
    copyBytes(
      new Uint8Array(column.buffer, column.byteOffset, column.byteLength),
      0,
      column.byteLength,
      bytes,
      at,
    );
    at = align(at + column.byteLength);
  });
  return buffer;
}

/** Views of encoded columns: nothing is copied. Throws if the buffer is incomplete or of another version. */
export function decodeColumns<Types extends ColumnTypes>(
  types: Types,
  version: number,
  buffer: ArrayBufferLike,
  what: string,
): ColumnsOf<Types> {
  const names = Object.keys(types);
  const head = new DataView(buffer);
  const found = head.getUint32(0, true);
  if (found !== version || head.getUint32(4, true) !== names.length) {
    throw new RangeError(`${what} of version ${found}, expected ${version}`);
  }
  const columns: Record<string, unknown> = {};
  names.forEach((name, index) => {
    const View = types[name] as typeof Uint8Array;
    const at = head.getUint32(headBytes + index * entryBytes, true);
    columns[name] = new View(buffer, at, head.getUint32(headBytes + 4 + index * entryBytes, true));
  });
  return columns as ColumnsOf<Types>;
}
