import type pg from 'pg';
import type { Scope } from './api-key.ts';

/** A key that is not revoked, for people. */
export interface ActiveKey {
  readonly id: number;
  readonly account: string;
  readonly prefix: string;
}

/** Keys of these ids that are not revoked and have a scope. */
export async function activeKeys(
  client: pg.Pool | pg.ClientBase,
  scope: Scope,
  ids: readonly number[],
): Promise<readonly ActiveKey[]> {
  const { rows } = await client.query<ActiveKey>(
    `SELECT id, account, prefix FROM service.keys
      WHERE id = ANY ($1::integer[]) AND revoked_at IS NULL AND $2 = ANY (scopes)`,
    [ids, scope],
  );
  return rows;
}
