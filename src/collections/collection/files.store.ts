import type pg from 'pg';
import type { SentFile } from '#collections/reading/read-sent-files.ts';

/** A file of a collection. */
export interface CollectionFile {
  /** Index of the file in the collection, from 0. */
  readonly place: number;
  readonly name: string;
  /** Null if the operator uploads the file. */
  readonly url: string | null;
  /** Number of bytes that the creator sent. Null if the creator sent no number. */
  readonly toldBytes: number | null;
  /** The stored bytes that are approved or can be approved. Null if they are not stored yet. */
  readonly stored: { readonly sha256: Buffer; readonly bytes: number; readonly mediaType: string } | null;
}

/** A page of the files of a collection, in their order. */
export async function readFiles(
  client: pg.Pool | pg.ClientBase,
  collection: string,
  { after, limit }: { readonly after: number | null; readonly limit: number },
): Promise<readonly CollectionFile[]> {
  const { rows } = await client.query<{
    place: number;
    name: string;
    url: string | null;
    told_bytes: number | null;
    sha256: Buffer | null;
    bytes: number | null;
    media_type: string | null;
  }>(
    `SELECT place, name, url, told_bytes, sha256, bytes, media_type FROM service.mint_files
      WHERE collection = $1 AND place > $2 ORDER BY place LIMIT $3`,
    [collection, after ?? -1, limit],
  );
  return rows.map(({ place, name, url, told_bytes: toldBytes, sha256, bytes, media_type: mediaType }) => ({
    place,
    name,
    url,
    toldBytes,
    stored: sha256 === null || bytes === null || mediaType === null ? null : { sha256, bytes, mediaType },
  }));
}

/** A file of an approved or closed collection, by its index. Returns null if there is no such file. */
export async function approvedFile(
  client: pg.Pool | pg.ClientBase,
  collection: string,
  place: number,
): Promise<{ readonly sha256: Buffer; readonly mediaType: string } | null> {
  const { rows } = await client.query<{ sha256: Buffer; media_type: string }>({
    name: 'read approved mint file',
    text: `SELECT f.sha256, f.media_type
             FROM service.mint_files AS f JOIN service.mint_collections AS c ON c.id = f.collection
            WHERE f.collection = $1 AND f.place = $2 AND c.state IN ('approved', 'closed')
              AND f.sha256 IS NOT NULL AND f.media_type IS NOT NULL`,
    values: [collection, place],
  });
  return rows[0] === undefined ? null : { sha256: rows[0].sha256, mediaType: rows[0].media_type };
}

/** Inserts the files of a new collection, in their order. */
export async function insertFiles(
  tx: pg.ClientBase,
  collection: string,
  files: readonly SentFile[],
): Promise<void> {
  if (files.length === 0) return;
  await tx.query(
    `INSERT INTO service.mint_files (collection, place, name, url, told_bytes)
     SELECT $1, place - 1, name, url, bytes
       FROM unnest($2::text[], $3::text[], $4::bigint[]) WITH ORDINALITY AS given(name, url, bytes, place)`,
    [collection, files.map(({ name }) => name), files.map(({ url }) => url), files.map(({ bytes }) => bytes)],
  );
}
