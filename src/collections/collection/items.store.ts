import assert from 'node:assert/strict';
import type pg from 'pg';

/** SQL: number of bytes of the opcode before a push, equal to `pushBytes` of orders. */
const opcodeBytes = (length: string): string =>
  `CASE WHEN ${length} = 0 THEN 0 WHEN ${length} < 76 THEN 1 WHEN ${length} < 256 THEN 2 ELSE 3 END`;

/**
 * SQL: number of bytes that the file `f` needs in the script of a reveal. The part that all items share is left out.
 * The content in pushes of 520 bytes and the media type are included, because a long type may make a shorter content
 * more expensive. Service migration 0049 counts in the same way.
 */
const scriptBytes = `f.bytes + 3 * (f.bytes / 520) + ${opcodeBytes('f.bytes % 520')}
  + octet_length(f.media_type) + ${opcodeBytes('octet_length(f.media_type)')}`;

/** An item to insert. */
interface NewItem {
  /** The index of its file. */
  readonly file: number;
  /** A signed 32-bit integer. Free items are drawn in the order of these numbers. */
  readonly draw: number;
}

/** Inserts the items of a collection, numbered from 1. */
export async function insertItems(
  tx: pg.ClientBase | pg.Pool,
  collection: string,
  items: readonly NewItem[],
): Promise<void> {
  const { rowCount } = await tx.query(
    `INSERT INTO service.mint_items (collection, item, file, draw, script_bytes)
     SELECT $1, given.item, f.place, given.draw, ${scriptBytes}
       FROM unnest($2::integer[], $3::integer[]) WITH ORDINALITY AS given(file, draw, item)
       JOIN service.mint_files AS f ON f.collection = $1 AND f.place = given.file`,
    [collection, items.map(({ file }) => file), items.map(({ draw }) => draw)],
  );
  assert(rowCount === items.length, `each item of collection ${collection} has a file`);
}
