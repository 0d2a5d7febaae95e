import type { ClientBase } from 'pg';
import { keyOfInscription, keysOfHeights } from '#chain/snapshot/inscription-keys.ts';
import { conditionsOf, type InscriptionFilter } from './inscription-filter.ts';

/**
 * Counts the inscriptions of some blocks that match a filter, but at most `most`. Reads all inscriptions of these
 * blocks if fewer match, so the filter needs a lowest height.
 */
export async function countMatching(
  client: ClientBase,
  filter: InscriptionFilter & { readonly from: NonNullable<InscriptionFilter['from']> },
  most: number,
): Promise<number> {
  const { first, end } = await keysOfHeights(client, filter);
  const parentKey = filter.parent === undefined ? null : await keyOfInscription(client, filter.parent);
  if (first === null || end === null || (filter.parent !== undefined && parentKey === null)) return 0;
  const values: unknown[] = [first, end, most];
  const checks = conditionsOf(filter, parentKey).map(
    ({ check, value }) => `AND ${check.replaceAll('$1', `$${values.push(value)}`)}`,
  );
  const { rows } = await client.query<{ count: number }>(
    `SELECT count(*) AS count FROM (
       SELECT FROM chain.inscriptions i WHERE i.key >= $1 AND i.key < $2 ${checks.join(' ')} LIMIT $3) AS matching`,
    values,
  );
  return rows[0]?.count ?? 0;
}
