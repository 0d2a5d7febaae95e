import { createHash } from 'node:crypto';
import type { ClientBase } from 'pg';
import { AppError } from '#kernel/errors/app-error.ts';
import type { BlockHash } from '#kernel/primitives/hash.ts';
import { asHeight, type Height, maxHeight } from '#kernel/primitives/height.ts';

/**
 * A position at the end of a page of a list, which the client sends to get the next page. It is opaque, and valid while
 * its block is in the chain. The block's hash covers all rows up to the block, so all rows around the position are
 * unchanged. Keys are unchanged too, unless missing blocks were added below; the block's first key shows this.
 */
export interface Cursor {
  /** The number of the next page. */
  readonly page: number;
  /** The last row of the previous page, in the form of the list. */
  readonly position: Uint8Array;
}

const version = 1;
const questionBytes = 4;
const hashBytes = 8;
const headBytes = 1 + questionBytes + 4 + 4 + hashBytes + 4;
/** Maximum page number. Every list has fewer pages, and the next number still fits in its field. */
const pageMax = 2 ** 31 - 1;
/** Maximum number of characters of a cursor. The longest position of any list is an outpoint and its height. */
const cursorCharsMax = 128;

/** A hash of the query, so that the cursor of one list is invalid for another list. */
function questionMark(question: string): Buffer {
  return createHash('sha256').update(question).digest().subarray(0, questionBytes);
}

/**
 * Writes the cursor after a row of the block at a height.
 *
 * @param question the list with all of its parameters, except the page
 */
export async function writeCursor(
  client: ClientBase,
  question: string,
  height: Height,
  { page, position }: Cursor,
): Promise<string> {
  const block = await readBlock(client, height);
  if (block === null) throw new RangeError(`block ${height} has rows and does not exist`);
  const head = Buffer.alloc(headBytes);
  head.writeUInt8(version, 0);
  head.set(questionMark(question), 1);
  head.writeUInt32BE(page, 5);
  head.writeUInt32BE(height, 9);
  head.set(block.hash.subarray(0, hashBytes), 13);
  head.writeInt32BE(block.first_key, 13 + hashBytes);
  return Buffer.concat([head, position]).toString('base64url');
}

/**
 * Reads a cursor. Cursors can be forged, so the position may have any bytes; its length is checked. Throws
 * `request_invalid` if it is not a cursor of this list. Throws `cursor_stale` if its block has left the chain.
 *
 * @param positionBytes length of the positions of this list
 */
export async function readCursor(
  client: ClientBase,
  question: string,
  text: string,
  positionBytes: number,
): Promise<Cursor> {
  const bytes = text.length <= cursorCharsMax ? Buffer.from(text, 'base64url') : Buffer.alloc(0);
  const isOne =
    bytes.length === headBytes + positionBytes &&
    bytes[0] === version &&
    bytes.readUInt32BE(5) <= pageMax &&
    bytes.subarray(1, 1 + questionBytes).equals(questionMark(question)) &&
    bytes.toString('base64url') === text;
  if (!isOne) throw new AppError('request_invalid', 'the cursor does not belong to this list');
  const block = await readBlock(client, asHeight(Math.min(bytes.readUInt32BE(9), maxHeight)));
  const isSame =
    block !== null &&
    bytes.subarray(13, 13 + hashBytes).equals(block.hash.subarray(0, hashBytes)) &&
    bytes.readInt32BE(13 + hashBytes) === block.first_key;
  if (!isSame) {
    throw new AppError(
      'cursor_stale',
      'the chain was reorganised after this cursor; start again at the first page',
    );
  }
  return { page: bytes.readUInt32BE(5), position: bytes.subarray(headBytes) };
}

async function readBlock(
  client: ClientBase,
  height: Height,
): Promise<{ hash: BlockHash; first_key: number } | null> {
  const { rows } = await client.query<{ hash: BlockHash; first_key: number }>(
    'SELECT hash, first_key FROM chain.blocks WHERE height = $1',
    [height],
  );
  return rows[0] ?? null;
}
