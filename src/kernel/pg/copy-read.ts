import type pg from 'pg';
import { to as copyTo } from 'pg-copy-streams';

const fileHeaderLength = 19;
const trailer = -1;

/** Bytes of the number of fields of a row, and of the length of a field. */
const countBytes = 2;
const lengthBytes = 4;

/**
 * The bytes of a query's only column, which must be of type bytea and not null. Null: the query has no row. A SELECT
 * would return them as hex: 256 kB then take four times as long, most of it on the event loop.
 *
 * @param query must have no parameters, because COPY takes none
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

/** A row of a binary COPY within `bytes`: called with the offset of its first field's length. */
export type CopyRow = (bytes: Buffer, at: number) => void;

/**
 * Streams the rows of a query in the binary format of COPY, without an object per row. Every column must have a fixed
 * length and not be null, so that all rows have `rowBytes` bytes: 2, and for each column 4 and its length.
 */
export async function readCopy(
  client: pg.ClientBase,
  query: string,
  rowBytes: number,
  onRow: CopyRow,
): Promise<number> {
  const stream = client.query(copyTo(copyOf(query)));
  // Only a row split over two chunks is copied: for a table of millions of rows, copies would make as much garbage as
  // it has bytes.
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
