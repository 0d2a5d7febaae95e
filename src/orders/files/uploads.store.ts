import type pg from 'pg';
import { areOver } from './file.store.ts';

/** A file that a key uploaded. */
export interface NewUpload {
  readonly s3Key: string;
  readonly sha256: Buffer;
  readonly bytes: number;
  readonly mediaType: string;
  readonly keyId: number;
}

export async function insertUpload(tx: pg.ClientBase, upload: NewUpload): Promise<void> {
  await tx.query(
    `INSERT INTO service.uploaded_files (s3_key, sha256, bytes, media_type, key_id) VALUES ($1, $2, $3, $4, $5)`,
    [upload.s3Key, upload.sha256, upload.bytes, upload.mediaType, upload.keyId],
  );
}

/**
 * How long rows of uploads are kept. During this time, requests of a deleted file are answered with 410 (deleted);
 * later, no one is likely to request it.
 */
const rowsKept = '30 days';

/** A position in the list of uploads, which is sorted by age, oldest first. */
interface UploadPlace {
  readonly s3Key: string;
  readonly uploadedAt: string;
}

/**
 * Deletes rows of old uploads whose contents are no longer needed, among the `limit` uploads after a position. Returns
 * the position of the last of these uploads; null at the end of the list.
 */
export async function deleteOldUploads(
  client: pg.ClientBase,
  after: UploadPlace | null,
  limit: number,
): Promise<UploadPlace | null> {
  const { rows } = await client.query<{ s3_key: string; at: string; sha256: string }>(
    `SELECT s3_key, uploaded_at::text AS at, encode(sha256, 'hex') AS sha256 FROM service.uploaded_files
      WHERE uploaded_at < now() - interval '${rowsKept}'
        AND ($1::text IS NULL OR (uploaded_at, s3_key) > ($2::timestamptz, $1::text))
      ORDER BY uploaded_at, s3_key LIMIT $3`,
    [after?.s3Key ?? null, after?.uploadedAt ?? null, limit],
  );
  const over = await areOver(client, [...new Set(rows.map(({ sha256 }) => sha256))]);
  const gone = rows.filter(({ sha256 }) => over.get(sha256) === true);
  await client.query('DELETE FROM service.uploaded_files WHERE s3_key = ANY($1::text[])', [
    gone.map(({ s3_key: key }) => key),
  ]);
  const last = rows.at(-1);
  return last === undefined || rows.length < limit ? null : { s3Key: last.s3_key, uploadedAt: last.at };
}
