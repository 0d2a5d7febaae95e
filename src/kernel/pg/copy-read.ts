import type pg from 'pg';
import { to as copyTo } from 'pg-copy-streams';

const fileHeaderLength = 19;
const trailer = -1;

/** A row of a binary COPY as it lies in `bytes`: called with the offset of its first field's length. */
export type CopyRow = (bytes: Buffer, at: number) => void;

/**
 * Streams the rows of a query in the binary format of COPY, without an object for each. Every column must be of a
 * fixed length and not null, so that all rows have `rowBytes` bytes: 2, and for each column 4 and its length.
 */
export async function readCopy(
  client: pg.ClientBase,
  query: string,
  rowBytes: number,
  onRow: CopyRow,
): Promise<number> {
  const stream = client.query(copyTo(`COPY (${query}) TO STDOUT (FORMAT binary)`));
  let rest: Buffer = Buffer.alloc(0);
  let skip = fileHeaderLength;
  let rows = 0;
  for await (const part of stream as AsyncIterable<Buffer>) {
    const bytes = rest.length === 0 ? part : Buffer.concat([rest, part]);
    let at = 0;
    if (skip > 0) {
      if (bytes.length < skip) {
        rest = bytes;
        continue;
      }
      at = skip;
      skip = 0;
    }
    for (; at + rowBytes <= bytes.length && bytes.readInt16BE(at) !== trailer; at += rowBytes) {
      onRow(bytes, at + 2);
      rows++;
    }
    // a copy: the stream's own memory is not kept
    rest = Buffer.from(bytes.subarray(at));
  }
  return rows;
}
