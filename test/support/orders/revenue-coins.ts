import type pg from 'pg';
import { expect } from 'vitest';
import { displayHash } from '#kernel/primitives/hash.ts';
import { allFreeCoins } from '#orders/funds/free-coins.ts';
import { outpointOf } from '#purse/transactions/outpoint.ts';
import { waitUntil } from '#test/support/wait-until.ts';

/** SQL condition: the transaction is a reveal whose burn is stored. */
const isBurned = `(t.kind = 'reveal' AND EXISTS (
    SELECT FROM service.wallet_transactions AS b
     WHERE b.order_id = t.order_id AND b.kind = 'burn' AND b.index = t.index AND b.superseded_at IS NULL))`;

const paidPlan = `CASE WHEN t.kind <> 'burn' THEN t.plan ELSE (
    SELECT r.plan FROM service.wallet_transactions AS r
     WHERE r.order_id = t.order_id AND r.kind = 'reveal' AND r.index = t.index AND r.superseded_at IS NULL) END`;

/**
 * Free coins computed from the plans of all orders and payouts, without the table of coins. The table replaced this
 * definition, which stays as an independent model. Returns `<txid>:<vout>`, the largest first.
 */
async function modelledFreeCoins(pool: pg.Pool): Promise<string[]> {
  const { rows } = await pool.query<{ txid: Buffer; vout: number }>(
    `SELECT p.txid, p.vout
       FROM (
         SELECT t.txid,
                array(SELECT place - 1 FROM jsonb_array_elements(t.plan->'outputs') WITH ORDINALITY AS e (output, place)
                       WHERE output->>'kind' IN ('service', 'change')) AS vouts
           FROM service.orders AS o JOIN service.wallet_transactions AS t ON t.order_id = o.id
          WHERE o.state = 'completed' AND t.superseded_at IS NULL AND t.kind <> 'return' AND NOT ${isBurned}
            AND (t.kind = 'refund' OR o.amount + 330 >
                 (SELECT sum((input->>'value')::bigint) FROM jsonb_array_elements(${paidPlan}->'inputs') AS i (input)
                   WHERE NOT input ? 'isInventory')
                 - coalesce((SELECT sum((output->>'value')::bigint) FROM jsonb_array_elements(${paidPlan}->'outputs') AS e (output)
                              WHERE output->>'kind' = 'parent'), 0))
         UNION ALL
         SELECT b.txid, ARRAY[0] FROM service.wallet_transactions AS b
          WHERE b.kind = 'bump' AND NOT EXISTS (
            SELECT FROM service.bump_shares AS s JOIN service.orders AS o ON o.id = s.order_id
             WHERE s.bump = b.txid AND o.state <> 'completed')
            AND NOT (b.plan ? 'owed')
         UNION ALL
         SELECT t.txid,
                array(SELECT place - 1 FROM jsonb_array_elements(t.plan->'outputs') WITH ORDINALITY AS e (output, place)
                       WHERE output->>'kind' = 'change')
           FROM service.return_costs AS c JOIN service.wallet_transactions AS t ON t.txid = c.txid
          WHERE t.plan->'inputs' @> '[{"isOperator": true}]' AND t.superseded_at IS NULL
         UNION ALL
         SELECT t.txid,
                array(SELECT place - 1 FROM jsonb_array_elements(t.plan->'outputs') WITH ORDINALITY AS e (output, place)
                       WHERE output->>'kind' = 'change')
           FROM service.wallet_transactions AS t JOIN service.payouts AS p ON p.id = t.payout_id
          WHERE p.kind NOT IN ('withdrawal', 'consolidation') AND t.superseded_at IS NULL
         UNION ALL
         SELECT f.txid, ARRAY[f.vout]
           FROM service.fund_addresses AS a JOIN service.payments_seen AS f USING (script)
       ) AS made
       JOIN service.payments_seen AS p ON p.txid = made.txid AND p.vout = ANY(made.vouts)
      WHERE p.height IS NOT NULL
        AND NOT EXISTS (SELECT FROM service.inventory_outputs AS i WHERE i.txid = p.txid AND i.vout = p.vout)
        AND regexp_replace(reverse(encode(p.txid, 'hex')), '(.)(.)', '\\2\\1', 'g') || ':' || p.vout <> ALL (ARRAY(
              SELECT input->>'outpoint'
                FROM service.wallet_transactions AS s, jsonb_array_elements(s.plan->'inputs') AS i (input)
               WHERE s.superseded_at IS NULL))
      ORDER BY p.value DESC, p.txid, p.vout`,
  );
  return rows.map(({ txid, vout }) => `${displayHash(txid)}:${vout}`);
}

/** The free coins of the table, including those set aside. */
async function listedFreeCoins(pool: pg.Pool): Promise<string[]> {
  const coins = await allFreeCoins(pool, async (all) => all.map(() => 'free'));
  const { rows } = await pool.query<{ txid: Buffer; vout: number }>(
    `SELECT txid, vout FROM service.wallet_coins WHERE aside IS NOT NULL AND held = 'free'`,
  );
  return [...coins.map(outpointOf), ...rows.map(({ txid, vout }) => `${displayHash(txid)}:${vout}`)];
}

/** Waits until the table has the same coins as the model. */
export async function expectSameFreeCoins(pool: pg.Pool): Promise<void> {
  let found: { readonly listed: string[]; readonly modelled: string[] } = { listed: [], modelled: [] };
  const isSame = async (): Promise<boolean> => {
    found = {
      listed: (await listedFreeCoins(pool)).toSorted(),
      modelled: (await modelledFreeCoins(pool)).toSorted(),
    };
    return found.listed.join() === found.modelled.join();
  };
  await waitUntil(isSame, { limitMs: 10_000, everyMs: 100 }).catch(() => undefined);
  expect(found.listed).toEqual(found.modelled);
}
