import type pg from 'pg';
import { type Txid, trustedTxid } from '#kernel/primitives/hash.ts';
import type { Height } from '#kernel/primitives/height.ts';
import { isBurned, isDead, paidPlan } from '#orders/bumping/bump.store.ts';
import { p2trDust } from '#orders/inscribing/plan-amounts.ts';
import { outpointOf } from '#orders/order/outpoint.ts';

/** A confirmed output of the wallet that belongs to nobody's order any more. */
export interface WalletCoin {
  readonly txid: Txid;
  readonly vout: number;
  readonly value: number;
  readonly script: Buffer;
  readonly height: Height;
  readonly hash: Buffer;
  readonly keyIndex: number;
}

/** As many as are looked at, the largest first: one of them pays for many transactions. */
const coinsMax = 200;

/**
 * Coins that belong to no order: revenue of delivered orders, rests of mined bumps and returns, and funds of the operator. In a block,
 * spent by nothing that is stored, not in the inventory, and without money of a customer. Whether they hold something else,
 * the index says.
 */
export async function walletCoins(client: pg.Pool | pg.ClientBase): Promise<WalletCoin[]> {
  const { rows } = await client.query<CoinRow>(
    `SELECT p.txid, p.vout, p.value, p.script, p.height, p.hash, made.key_index, made.order_id
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
      ORDER BY p.value DESC, p.txid, p.vout LIMIT $1`,
    [coinsMax],
  );
  const spent = await spentByOrders(
    client,
    rows.flatMap(({ order_id: id }) => (id === null ? [] : [id])),
  );
  const coins = rows
    .map(({ txid, vout, value, script, height, hash, key_index: keyIndex }) => ({
      txid: trustedTxid(txid),
      vout,
      value,
      script,
      height,
      hash,
      keyIndex,
    }))
    .filter((coin) => !spent.has(outpointOf(coin)));
  const returned = await spentByReturns(client, coins.map(outpointOf));
  return coins.filter((coin) => !returned.has(outpointOf(coin)));
}

interface CoinRow extends Omit<WalletCoin, 'txid' | 'keyIndex'> {
  readonly txid: Buffer;
  readonly key_index: number;
  /** Null: of a bump, or a fund. */
  readonly order_id: string | null;
}

/** What the transactions of some orders spend. */
async function spentByOrders(
  client: pg.Pool | pg.ClientBase,
  orderIds: readonly string[],
): Promise<ReadonlySet<string>> {
  const { rows } = await client.query<{ outpoint: string }>(
    `SELECT input->>'outpoint' AS outpoint
       FROM service.order_transactions AS t, jsonb_array_elements(t.plan->'inputs') AS i (input)
      WHERE t.order_id = ANY($1::uuid[]) AND t.superseded_at IS NULL`,
    [orderIds],
  );
  return new Set(rows.map(({ outpoint }) => outpoint));
}

/** Coins among these that returns of any order spend. */
async function spentByReturns(
  client: pg.Pool | pg.ClientBase,
  outpoints: readonly string[],
): Promise<ReadonlySet<string>> {
  if (outpoints.length === 0) return new Set();
  const { rows } = await client.query<{ outpoint: string }>(
    `SELECT input->>'outpoint' AS outpoint
       FROM service.order_transactions AS t, jsonb_array_elements(t.plan->'inputs') AS i (input)
      WHERE t.kind = 'return' AND t.superseded_at IS NULL AND input->>'outpoint' = ANY($1)`,
    [outpoints],
  );
  return new Set(rows.map(({ outpoint }) => outpoint));
}
