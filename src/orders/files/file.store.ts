import type pg from 'pg';
import { collectionContents, keysOfPendingFiles } from '#collections/collection/content-names.queries.ts';

/**
 * How long contents are kept after an order expired, and after it was completed or refunded. Retries and customers may
 * need a content this long, but not longer (docs/orders-api.md, "Contents").
 */
export const keptAfterExpiry = '7 days';
const keptAfterEnd = '30 days';
/** How long an upload is kept. A client must use the upload in an order or a collection within this time. */
const keptAfterUpload = '7 days';

/**
 * SQL: whether the contents of the order `o` are no longer needed. If the order's leaves are deleted, the order can
 * inscribe nothing, even if it owes money.
 */
const isOver = `CASE WHEN o.leaves_deleted_at IS NOT NULL THEN true
  WHEN o.state IN ('expired', 'cancelled') THEN o.expires_at < now() - interval '${keptAfterExpiry}'
  WHEN o.state IN ('completed', 'refunded') THEN o.completed_at < now() - interval '${keptAfterEnd}'
  ELSE false END`;

/**
 * SQL: whether the time of the upload `u` is over. An order or collection that uses the upload's content keeps the
 * content longer. A collection that waits for approval, and names the upload by URL, keeps the upload. NOT IN reads
 * these URLs once for each statement.
 */
const isUploadOver = `(u.uploaded_at < now() - interval '${keptAfterUpload}'
    AND u.s3_key NOT IN (${keysOfPendingFiles}))`;

/**
 * SQL: all rows that use a content, each with the content's `sha256`, and whether the row no longer needs the content
 * (`is_over`). A content is deleted once no row needs it. Any new kind of use must be added here, and nowhere else.
 */
const contentNames = `
  SELECT f.sha256, ${isOver} AS is_over
    FROM service.order_files AS f JOIN service.orders AS o ON o.id = f.order_id
  UNION ALL
  SELECT u.sha256, ${isUploadOver} AS is_over FROM service.uploaded_files AS u
  UNION ALL
  ${collectionContents}`;

/** SQL: the sha256 in hex of all contents that rows need, one row for each content. It has no parameters. */
export const neededContents = `SELECT encode(n.sha256, 'hex') FROM (${contentNames}) AS n
  GROUP BY n.sha256 HAVING NOT bool_and(n.is_over)`;

/** A file that has a URL. */
export interface FoundFile {
  readonly kind: 'order' | 'upload';
  readonly sha256: Buffer;
  readonly mediaType: string;
  /** Whether the file's time is over, so that its content may be deleted. */
  readonly isOver: boolean;
}

/** Files of orders and uploads, by key. Unknown keys are left out. */
export async function findFiles(
  client: pg.Pool | pg.ClientBase,
  s3Keys: readonly string[],
): Promise<ReadonlyMap<string, FoundFile>> {
  const { rows } = await client.query<{
    kind: FoundFile['kind'];
    s3_key: string;
    sha256: Buffer;
    media_type: string;
    is_over: boolean;
  }>(
    `SELECT 'order' AS kind, f.s3_key, f.sha256, f.media_type, ${isOver} AS is_over
       FROM service.order_files AS f JOIN service.orders AS o ON o.id = f.order_id
      WHERE f.s3_key = ANY($1::text[]) AND f.sha256 IS NOT NULL
     UNION ALL
     SELECT 'upload', u.s3_key, u.sha256, u.media_type, ${isUploadOver}
       FROM service.uploaded_files AS u WHERE u.s3_key = ANY($1::text[])`,
    [s3Keys],
  );
  return new Map(
    rows.map(({ kind, s3_key: key, sha256, media_type: mediaType, is_over: over }) => [
      key,
      { kind, sha256, mediaType, isOver: over },
    ]),
  );
}

/** Whether contents are no longer needed, by sha256 in hex. Contents that no row uses are left out. */
export async function areOver(
  client: pg.ClientBase,
  contents: readonly string[],
): Promise<ReadonlyMap<string, boolean>> {
  const { rows } = await client.query<{ sha256: string; is_over: boolean }>(
    `SELECT encode(n.sha256, 'hex') AS sha256, bool_and(n.is_over) AS is_over
       FROM (${contentNames}) AS n WHERE n.sha256 = ANY($1::bytea[]) GROUP BY n.sha256`,
    [contents.map((hex) => Buffer.from(hex, 'hex'))],
  );
  return new Map(rows.map(({ sha256, is_over: over }) => [sha256, over]));
}
