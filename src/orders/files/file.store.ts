import type pg from 'pg';

/** Retries and customers may need a content as long; nobody does later (docs/orders.md, "Contents"). */
export const keptAfterExpiry = '7 days';
const keptAfterEnd = '30 days';

/**
 * SQL: whether the contents of the order `o` are needed no more. An order without leaves inscribes nothing, whatever it
 * owes.
 */
const isOver = `CASE WHEN o.leaves_deleted_at IS NOT NULL THEN true
  WHEN o.state IN ('expired', 'cancelled') THEN o.expires_at < now() - interval '${keptAfterExpiry}'
  WHEN o.state IN ('completed', 'refunded') THEN o.completed_at < now() - interval '${keptAfterEnd}'
  ELSE false END`;

/** A file of an order by its key; null: there is none. `isOver`: its content may be deleted. */
export async function findFile(
  client: pg.Pool | pg.ClientBase,
  s3Key: string,
): Promise<{ readonly sha256: Buffer; readonly mediaType: string; readonly isOver: boolean } | null> {
  const { rows } = await client.query<{ sha256: Buffer; media_type: string; is_over: boolean }>(
    `SELECT f.sha256, f.media_type, ${isOver} AS is_over
       FROM service.order_files AS f JOIN service.orders AS o ON o.id = f.order_id
      WHERE f.s3_key = $1 AND f.sha256 IS NOT NULL`,
    [s3Key],
  );
  const [row] = rows;
  return row === undefined ? null : { sha256: row.sha256, mediaType: row.media_type, isOver: row.is_over };
}

/** Of contents (sha256 in hex) that orders have: whether all of these orders are over. Absent: no order has it. */
export async function areOver(
  client: pg.ClientBase,
  contents: readonly string[],
): Promise<ReadonlyMap<string, boolean>> {
  const { rows } = await client.query<{ sha256: string; is_over: boolean }>(
    `SELECT encode(f.sha256, 'hex') AS sha256, bool_and(${isOver}) AS is_over
       FROM service.order_files AS f JOIN service.orders AS o ON o.id = f.order_id
      WHERE f.sha256 = ANY(SELECT decode(hex, 'hex') FROM unnest($1::text[]) AS hex) GROUP BY f.sha256`,
    [contents],
  );
  return new Map(rows.map(({ sha256, is_over: over }) => [sha256, over]));
}
