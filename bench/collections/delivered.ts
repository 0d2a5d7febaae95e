import type pg from 'pg';

/**
 * Makes a completed order for each item of an approved collection. The orders have the rows that they would have once
 * their reveals are in blocks. The keys of their inscriptions and of their wallet begin at `first`.
 */
export async function deliverAll(pool: pg.Pool, collection: string, first: number): Promise<void> {
  const orderId = `md5($1 || ' ' || m.item)::uuid`;
  const reveal = `sha256(convert_to($1 || ' ' || m.item, 'UTF8'))`;
  const items = 'service.mint_items AS m WHERE m.collection = $1';
  const statements: readonly [string, readonly unknown[]][] = [
    [
      `INSERT INTO service.orders (id, kind, state, key_index, own_index, script, address, paid_to, amount, quote, request, terms,
         expires_at, completed_at)
       SELECT ${orderId}, 'bulk', 'completed', $2 + m.item, $2 + m.item, '\\x5120'::bytea || ${reveal}, 'a', 'wallet', 1, '{}', '{}', '{}',
              now(), now() FROM ${items}`,
      [collection, first],
    ],
    [
      `INSERT INTO service.mint_orders (order_id, collection, phase, items, numbers, is_requested, script, price, standing)
       SELECT ${orderId}, $1, (SELECT phase FROM service.mint_phases WHERE collection = $1 LIMIT 1), 1, ARRAY[m.item], false,
              '\\x5120'::bytea || ${reveal}, 0, 'allowed' FROM ${items}`,
      [collection],
    ],
    [
      `INSERT INTO service.wallet_transactions (txid, order_id, kind, index, files, bytes, plan, fee, height)
       SELECT ${reveal}, ${orderId}, 'reveal', 0, 1, '\\x00', '{"inputs": [], "outputs": []}', 1, 100 FROM ${items}`,
      [collection],
    ],
    [
      `INSERT INTO chain.inscriptions (key, index, height, tx_index, input, flags, txid)
       SELECT $2 + m.item, 0, 100, 1, 0, 0, ${reveal} FROM ${items}`,
      [collection, first],
    ],
    [
      `UPDATE service.mint_items AS m SET order_id = ${orderId}, order_place = 0 WHERE m.collection = $1`,
      [collection],
    ],
    [`UPDATE service.mint_collections SET taken = total_count WHERE id = $1`, [collection]],
    [
      `UPDATE service.mint_phases AS p SET taken = c.total_count FROM service.mint_collections AS c WHERE c.id = p.collection AND c.id = $1`,
      [collection],
    ],
  ];
  for (const [text, values] of statements) await pool.query(text, [...values]);
  await pool.query(
    'ANALYZE service.orders, service.mint_orders, service.mint_items, service.wallet_transactions',
  );
}
