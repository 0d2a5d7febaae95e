import type pg from 'pg';

/** A file whose content is on disk. */
export interface StoredContent {
  readonly place: number;
  readonly name: string;
  readonly sha256: Uint8Array;
  readonly bytes: number;
  readonly mediaType: string;
}

/** SQL: contents as rows. Their columns are the parameters from the second on. */
const givenContents = 'unnest($2::integer[], $3::text[], $4::bytea[], $5::integer[], $6::text[])';

const columnsOf = (contents: readonly StoredContent[]): readonly unknown[] => [
  contents.map(({ place }) => place),
  contents.map(({ name }) => name),
  contents.map(({ sha256 }) => Buffer.from(sha256)),
  contents.map(({ bytes }) => bytes),
  contents.map(({ mediaType }) => mediaType),
];

/**
 * Marks in the database which contents of a pending collection are on disk. Marked contents are not fetched again, and
 * are not deleted from the disk.
 */
export async function noteContents(
  client: pg.Pool | pg.ClientBase,
  collection: string,
  contents: readonly StoredContent[],
): Promise<void> {
  await client.query(
    `UPDATE service.mint_files AS f SET sha256 = given.sha256, bytes = given.bytes, media_type = given.media_type
       FROM ${givenContents}
              AS given(place, name, sha256, bytes, media_type),
            service.mint_collections AS c
      WHERE f.collection = $1 AND f.place = given.place AND f.name = given.name AND c.id = $1 AND c.state = 'pending'`,
    [collection, ...columnsOf(contents)],
  );
}

/** Removes the marks of contents that the disk has lost. */
export async function forgetContents(
  client: pg.Pool | pg.ClientBase,
  collection: string,
  places: readonly number[],
): Promise<void> {
  await client.query(
    `UPDATE service.mint_files AS f SET sha256 = NULL, bytes = NULL, media_type = NULL
       FROM service.mint_collections AS c
      WHERE f.collection = $1 AND f.place = ANY($2) AND c.id = $1 AND c.state = 'pending'`,
    [collection, places],
  );
}

/**
 * Replaces the files of a pending collection with uploaded files, in the order of `contents`. The row of the collection
 * must be locked.
 */
export async function replaceFiles(
  tx: pg.ClientBase,
  collection: string,
  contents: readonly StoredContent[],
): Promise<void> {
  await tx.query('DELETE FROM service.mint_files WHERE collection = $1', [collection]);
  await tx.query(
    `INSERT INTO service.mint_files (collection, place, name, sha256, bytes, media_type)
     SELECT $1, given.* FROM ${givenContents} AS given`,
    [collection, ...columnsOf(contents)],
  );
}
