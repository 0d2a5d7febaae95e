import type pg from 'pg';
import { to as copyTo } from 'pg-copy-streams';

const fileHeaderLength = 19;
const trailer = -1;

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
  const stream = client.query(copyTo(`COPY (${query}) TO STDOUT (FORMAT binary)`));
  // Only a row split over two chunks is copied: for a table of millions of rows, copies would leave as much garbage
  // as it has bytes.
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
