import type pg from 'pg';
import { to as copyTo } from 'pg-copy-streams';

/** A row of a binary COPY: the bytes of each field. A null field is SQL NULL. */
export type CopyRow = readonly (Buffer | null)[];

/**
 * Length in bytes of the header: signature, flags, and an extension of 0 bytes (PostgreSQL manual, COPY, "Binary
 * Format").
 */
const fileHeaderLength = 19;
const trailer = -1;

/** Reads the rows of a whole binary COPY. */
export function copyRows(bytes: Buffer): CopyRow[] {
  const rows: CopyRow[] = [];
  let at = fileHeaderLength;
  for (let fields = bytes.readInt16BE(at); fields !== trailer; fields = bytes.readInt16BE(at)) {
    at += 2;
    const row: (Buffer | null)[] = [];
    for (let field = 0; field < fields; field++) {
      const length = bytes.readInt32BE(at);
      at += 4;
      row.push(length < 0 ? null : bytes.subarray(at, at + length));
      at += Math.max(0, length);
    }
    rows.push(row);
  }
  return rows;
}

/** The rows of a query in the binary format of COPY. They are the rows of one block, all in memory. */
export async function queryCopyRows(client: pg.ClientBase, query: string): Promise<CopyRow[]> {
  const chunks: Buffer[] = [];
  const stream = client.query(copyTo(`COPY (${query}) TO STDOUT (FORMAT binary)`));
  for await (const chunk of stream as AsyncIterable<Buffer>) chunks.push(Buffer.from(chunk));
  return copyRows(Buffer.concat(chunks));
}
