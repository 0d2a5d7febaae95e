import type pg from 'pg';
import type { Sats } from '#kernel/primitives/sats.ts';

/** The amounts of orders in sats, by order id. */
export async function amountsOf(
  client: pg.ClientBase,
  ids: readonly string[],
): Promise<ReadonlyMap<string, bigint>> {
  const { rows } = await client.query<{ id: string; amount: Sats }>(
    'SELECT id, amount FROM service.orders WHERE id = ANY($1::uuid[])',
    [ids],
  );
  return new Map(rows.map(({ id, amount }) => [id, BigInt(amount)]));
}
