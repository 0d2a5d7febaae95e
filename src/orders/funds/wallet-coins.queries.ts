import type pg from 'pg';
import { type Txid, trustedTxid } from '#kernel/primitives/hash.ts';
import type { Height } from '#kernel/primitives/height.ts';
import { isBurned, isDead, paidPlan } from '#orders/bumping/bump.store.ts';
import { p2trDust } from '#orders/inscribing/plan-amounts.ts';
import { shownOutpoint } from '#orders/order/own-transactions.queries.ts';
import { isCoinOfReturn } from '#orders/parents/return-costs.store.ts';

/** A confirmed output of the wallet that belongs to no order any more. */
export interface WalletCoin {
  readonly txid: Txid;
  readonly vout: number;
  readonly value: number;
  readonly script: Buffer;
  readonly height: Height;
  readonly hash: Buffer;
  readonly keyIndex: number;
}

/**
 * Coins that belong to no order: revenue of delivered orders, rests of mined bumps and returns, and funds of the
 * operator. In a block, spent by nothing that is stored, not in the inventory, and without money of a customer. Whether
 * they hold something else, the index says. The largest first.
 *
 * @param limit null: all
 */
export async function walletCoins(
  client: pg.Pool | pg.ClientBase,
  limit: number | null,
): Promise<WalletCoin[]> {
  const { rows } = await client.query<CoinRow>(
    `WITH coins AS MATERIALIZED (
       SELECT p.txid, p.vout, p.value, p.script, p.height, p.hash, made.key_index, made.order_id
         FROM (
           SELECT t.txid, o.own_index AS key_index, t.order_id,
                  array(SELECT place - 1 FROM jsonb_array_elements(t.plan->'outputs') WITH ORDINALITY AS e (output, place)
                         WHERE output->>'kind' IN ('service', 'change')) AS vouts
             FROM service.orders AS o JOIN service.order_transactions AS t ON t.order_id = o.id
            WHERE o.state = 'completed' AND t.superseded_at IS NULL
              -- what sends deposits home may leave a customer's money
              AND t.kind <> 'return'
              -- its burn spends it
              AND NOT ${isBurned}
              -- what was paid too much lies in our output: from dust on it is the customer's
              AND (t.kind = 'refund' OR o.amount + ${p2trDust} >
                   (SELECT sum((input->>'value')::bigint) FROM jsonb_array_elements(${paidPlan}->'inputs') AS i (input)
                     WHERE NOT input ? 'isInventory')
                   -- parents go on with what they brought
                   - coalesce((SELECT sum((output->>'value')::bigint) FROM jsonb_array_elements(${paidPlan}->'outputs') AS e (output)
                                WHERE output->>'kind' = 'parent'), 0))
           UNION ALL
           SELECT b.txid, b.own_index, NULL, ARRAY[0] FROM service.bumps AS b
            WHERE NOT EXISTS (
              SELECT FROM service.bump_shares AS s JOIN service.orders AS o ON o.id = s.order_id
               WHERE s.bump = b.txid AND o.state <> 'completed')
              AND NOT (b.plan ? 'owed')
           UNION ALL
           -- what a return left of such a coin
           SELECT t.txid, o.own_index, NULL,
                  array(SELECT place - 1 FROM jsonb_array_elements(t.plan->'outputs') WITH ORDINALITY AS e (output, place)
                         WHERE output->>'kind' = 'change')
             FROM service.return_costs AS c JOIN service.order_transactions AS t ON t.txid = c.txid
             JOIN service.orders AS o ON o.id = t.order_id
            WHERE c.coin_txid IS NOT NULL AND t.superseded_at IS NULL
           UNION ALL
           SELECT f.txid, a.own_index, NULL, ARRAY[f.vout]
             FROM service.fund_addresses AS a JOIN service.payments_seen AS f USING (script)
         ) AS made
         JOIN service.payments_seen AS p ON p.txid = made.txid AND p.vout = ANY(made.vouts)
        WHERE p.height IS NOT NULL
          AND NOT EXISTS (SELECT FROM service.inventory_outputs AS i WHERE i.txid = p.txid AND i.vout = p.vout)
          AND NOT EXISTS (
            SELECT FROM service.bump_inputs AS i JOIN service.bumps AS b ON b.txid = i.bump
             WHERE i.txid = p.txid AND i.vout = p.vout AND NOT ${isDead('b')})
          AND NOT ${isCoinOfReturn('p.txid', 'p.vout')}
     )
     SELECT txid, vout, value, script, height, hash, key_index
       -- OFFSET 0 keeps the sort below the filter, which reads the plans of the first coins alone, up to the limit
       FROM (SELECT * FROM coins ORDER BY value DESC, txid, vout OFFSET 0) AS p
      WHERE ${shownOutpoint('p.txid', 'p.vout')} <> ALL (ARRAY(
              SELECT input->>'outpoint'
                FROM service.order_transactions AS s, jsonb_array_elements(s.plan->'inputs') AS i (input)
               WHERE s.order_id = p.order_id AND s.superseded_at IS NULL))
      ORDER BY value DESC, txid, vout LIMIT $1`,
    [limit],
  );
  return rows.map(({ txid, key_index: keyIndex, ...row }) => ({ ...row, txid: trustedTxid(txid), keyIndex }));
}

interface CoinRow extends Omit<WalletCoin, 'txid' | 'keyIndex'> {
  readonly txid: Buffer;
  readonly key_index: number;
}
