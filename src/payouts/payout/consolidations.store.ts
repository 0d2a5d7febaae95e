import assert from 'node:assert/strict';
import type pg from 'pg';
import { familyOf } from '#purse/transactions/spends.store.ts';

/** Stores a batch that joins coins of accounts, before it is planned. Returns its id. */
export async function insertConsolidation(client: pg.ClientBase): Promise<string> {
  const { rows } = await client.query<{ id: string }>(
    `INSERT INTO service.payouts (kind) VALUES ('consolidation') RETURNING id`,
  );
  const id = rows[0]?.id;
  assert(id !== undefined, 'an inserted row has an id');
  return id;
}

/** Whether there is a consolidation that is not in a block. */
export async function isConsolidating(client: pg.ClientBase): Promise<boolean> {
  const { rowCount } = await client.query(
    `SELECT FROM service.payouts WHERE kind = 'consolidation' AND state IN ('asked', 'signed', 'sent') LIMIT 1`,
  );
  return rowCount !== 0;
}

/**
 * Maximum cost of the consolidations of the last 24 hours in sats, according to the stored transactions. If
 * transactions replace each other, only the largest fee is counted.
 */
export async function consolidationFees(client: pg.Pool | pg.ClientBase): Promise<bigint> {
  const { rows } = await client.query<{ sats: string }>(
    `SELECT coalesce(sum(fee), 0)::text AS sats
       FROM (SELECT max(t.fee) AS fee
               FROM service.payouts AS p JOIN service.wallet_transactions AS t ON t.payout_id = p.id
              WHERE p.kind = 'consolidation' AND t.made_at > now() - interval '24 hours'
              GROUP BY ${familyOf('t')}) AS families`,
  );
  return BigInt(rows[0]?.sats ?? 0);
}
