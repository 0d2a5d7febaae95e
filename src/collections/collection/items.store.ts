import assert from 'node:assert/strict';
import type pg from 'pg';

/** SQL: bytes of the opcode before a push (`pushBytes` of orders). */
const opcodeBytes = (length: string): string =>
  `CASE WHEN ${length} = 0 THEN 0 WHEN ${length} < 76 THEN 1 WHEN ${length} < 256 THEN 2 ELSE 3 END`;

/**
 * SQL: bytes of the file `f` in the script of a reveal, without the part that all items share: its content in pushes of
 * 520, and its type, which may make a shorter content more expensive. Service migration 0049 counts in the same way.
 */
const scriptBytes = `f.bytes + 3 * (f.bytes / 520) + ${opcodeBytes('f.bytes % 520')}
  + octet_length(f.media_type) + ${opcodeBytes('octet_length(f.media_type)')}`;

/** An item to insert. */
interface NewItem {
  /** The place of its file. */
  readonly file: number;
  /** Free items are given in the order of these numbers: signed 32-bit integers. */
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
