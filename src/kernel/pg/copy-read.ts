import type pg from 'pg';
import { to as copyTo } from 'pg-copy-streams';

const fileHeaderLength = 19;
const trailer = -1;

/** Number of bytes of a row's count of fields, and of the length of a field. */
const countBytes = 2;
const lengthBytes = 4;

/**
 * The bytes of a query's only column, which must be of type bytea and not null. `null` if the query has no row. A
 * SELECT would return the bytes as hex, and 256 kB would take four times as long, mostly on the event loop.
 *
 * @param query must have no parameters, because COPY has none
 */
export async function readCopyBytes(client: pg.ClientBase, query: string): Promise<Buffer | null> {
  const stream = client.query(copyTo(copyOf(query)));
  const parts: Buffer[] = [];
  for await (const part of stream as AsyncIterable<Buffer>) parts.push(part);
  const all = parts.length === 1 ? parts[0]! : Buffer.concat(parts);
  if (all.readInt16BE(fileHeaderLength) === trailer) return null;
  const start = fileHeaderLength + countBytes + lengthBytes;
  return all.subarray(start, start + all.readInt32BE(start - lengthBytes));
}

const copyOf = (query: string): string => `COPY (${query}) TO STDOUT (FORMAT binary)`;

/**
 * Called for each row of a binary COPY. The row is in `bytes`, and `at` is the offset of the length of its first field.
 */
export type CopyRow = (bytes: Buffer, at: number) => void;

/**
 * Streams the rows of a query in the binary format of COPY, without an object per row. Every column must have a fixed
 * length and not be null, so that all rows have `rowBytes` bytes. These are 2 bytes, and for each column 4 bytes and
 * the column's length.
 */
export async function readCopy(
  client: pg.ClientBase,
  query: string,
  rowBytes: number,
  onRow: CopyRow,
): Promise<number> {
  const stream = client.query(copyTo(copyOf(query)));
  // Copy of a row that is split over two chunks. Other rows are not copied, because for a table of millions of rows,
  // copies would make as much garbage as the table has bytes.
  const split = Buffer.alloc(rowBytes);
  let splitBytes = 0;
  let skip = fileHeaderLength;
  let rows = 0;
  for await (const part of stream as AsyncIterable<Buffer>) {
    let at = Math.min(skip, part.length);
    skip -= at;
    if (splitBytes > 0) {
      const copied = part.copy(split, splitBytes, at, at + rowBytes - splitBytes);
      splitBytes += copied;
      at += copied;
      if (splitBytes < rowBytes) continue;
      onRow(split, 2);
      rows++;
    }
    for (; at + rowBytes <= part.length && part.readInt16BE(at) !== trailer; at += rowBytes) {
      onRow(part, at + 2);
      rows++;
    }
    splitBytes = part.copy(split, 0, at);
  }
  return rows;
}
