import type pg from 'pg';
import { readCursor, writeCursor } from '#chain/snapshot/cursor.ts';
import type { SearchPlace } from '#kernel/contracts/search-engine.ts';
import type { Height } from '#kernel/primitives/height.ts';
import type { InscriptionKey } from '#kernel/primitives/inscription-key.ts';

/** Number of bytes of a position: key, whether the number is known, number, length. */
const placeBytes = 4 + 1 + 4 + 4;

/** A page of a search by cursor. */
export interface CursorPage {
  /** 1-based. */
  readonly page: number;
  /** The page begins after this position. Null: it is the first page. */
  readonly after: SearchPlace | null;
}

/**
 * Reads a cursor of a search. An empty cursor means the start. Throws `cursor_stale` and `request_invalid`.
 *
 * @param question all parameters of the search, except the page
 */
export async function readSearchCursor(
  client: pg.ClientBase,
  question: string,
  cursor: string,
): Promise<CursorPage> {
  if (cursor === '') return { page: 1, after: null };
  const { page, position } = await readCursor(client, question, cursor, placeBytes);
  const bytes = Buffer.from(position);
  const after = {
    key: bytes.readInt32BE(0),
    number: bytes[4] === 0 ? null : bytes.readInt32BE(5),
    length: bytes.readInt32BE(9),
  };
  return { page, after };
}

/** The cursor of the page after an inscription. */
export async function writeSearchCursor(
  client: pg.ClientBase,
  question: string,
  { key, page }: { readonly key: InscriptionKey; readonly page: number },
): Promise<string> {
  const { rows } = await client.query<{ height: Height; number: number | null; length: number }>(
    `SELECT i.height, i.number, coalesce(octet_length(c.body), 0) AS length
       FROM chain.inscriptions AS i LEFT JOIN chain.contents AS c USING (content_id) WHERE i.key = $1`,
    [key],
  );
  const [row] = rows;
  if (row === undefined) throw new RangeError(`inscription ${key} is not there`);
  const position = Buffer.alloc(placeBytes);
  position.writeInt32BE(key, 0);
  position[4] = row.number === null ? 0 : 1;
  position.writeInt32BE(row.number ?? 0, 5);
  position.writeInt32BE(row.length, 9);
  return writeCursor(client, question, row.height, { page, position });
}
