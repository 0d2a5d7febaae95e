import { createHash } from 'node:crypto';
import type { ClientBase } from 'pg';
import { AppError } from '#kernel/errors/app-error.ts';

/**
 * Where a page of a list ended, as a client carries it to the next page: opaque, and good as long as the block that it
 * names is in the chain. All rows up to a block hang on its hash, so what comes before and behind the place is then
 * what it was; keys too, unless blocks were put in below, which shows in the block's first key.
 */
export interface Cursor {
  /** Counts the pages: the one that it leads to. */
  readonly page: number;
  /** The last row of the page before, as the list writes it. */
  readonly position: Uint8Array;
}

const version = 1;
const questionBytes = 4;
const hashBytes = 8;
const headBytes = 1 + questionBytes + 4 + 4 + hashBytes + 4;
/** No list has so many pages, and the one behind it can still be written. */
const pageMax = 2 ** 31 - 1;
/** No list has a longer position than an outpoint and its height. */
const cursorCharsMax = 128;

/** Lists differ in what is asked: a cursor of one leads nowhere in another. */
function questionMark(question: string): Buffer {
  return createHash('sha256').update(question).digest().subarray(0, questionBytes);
}

/**
 * The text of a cursor behind a row of the block at a height.
 *
 * @param question the list and everything that was asked of it, but for the page
 */
export async function writeCursor(
  client: ClientBase,
  question: string,
  height: number,
  { page, position }: Cursor,
): Promise<string> {
  const block = await readBlock(client, height);
  if (block === null) throw new RangeError(`block ${height} has rows and is not there`);
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
 * What the text of a cursor means. Anybody can make one that looks like ours: what is in the position may be anything, its
 * length is not. Throws `request_invalid` where it is none of this list, and `cursor_stale` where its block is in the
 * chain no more.
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
  if (!isOne) throw new AppError('request_invalid', 'cursor is not one of this list');
  const block = await readBlock(client, Math.min(bytes.readUInt32BE(9), 2 ** 31 - 1));
  const isSame =
    block !== null &&
    bytes.subarray(13, 13 + hashBytes).equals(block.hash.subarray(0, hashBytes)) &&
    bytes.readInt32BE(13 + hashBytes) === block.first_key;
  if (!isSame) {
    throw new AppError('cursor_stale', 'the chain was reorganised since this cursor was given: begin again');
  }
  return { page: bytes.readUInt32BE(5), position: bytes.subarray(headBytes) };
}

async function readBlock(
  client: ClientBase,
  height: number,
): Promise<{ hash: Buffer; first_key: number } | null> {
  const { rows } = await client.query<{ hash: Buffer; first_key: number }>(
    'SELECT hash, first_key FROM chain.blocks WHERE height = $1',
    [height],
  );
  return rows[0] ?? null;
}
