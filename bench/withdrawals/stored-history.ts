import type pg from 'pg';

/** Numbers of stored rows, by kind. */
export interface HistoryCounts {
  /** Number of spent coins of accounts. Two such coins come with six ledger entries and a completed withdrawal. */
  readonly spent: number;
  readonly accounts: number;
  /** Number of unspent coins of all accounts. */
  readonly unspent: number;
  /** Number of orders for which nothing was paid. */
  readonly open: number;
}

/** Number of coins of one order: one for its fee, and one for its rune. */
const coinsOfOrder = 2;
const baseFee = 1000;
const runeSats = 546;
const additional = 2000;
const units = 10;
/** Number of orders whose coins one batch spent. */
const ordersOfBatch = 100;
const height = 100;

/**
 * Fills an empty database of this version with accounts whose orders were paid. Batches of completed withdrawals have
 * spent the orders' coins. The ledger's triggers are off meanwhile, and balances are summed afterwards.
 */
export async function fillHistory(client: pg.Client, counts: HistoryCounts): Promise<void> {
  await client.query('ALTER TABLE service.ledger_entries DISABLE TRIGGER USER');
  for (const statement of statementsOf(counts)) await client.query(statement);
  await client.query('ALTER TABLE service.ledger_entries ENABLE TRIGGER USER');
  await client.query('VACUUM ANALYZE');
}

/** SQL expressions for an order's id, hash and account, by the order's number. */
const idOf = (order: string): string => `md5('order ' || ${order})::uuid`;
const hashOf = (name: string, number: string): string => `sha256(('${name} ' || ${number})::bytea)`;

function statementsOf({ spent, accounts, unspent, open }: HistoryCounts): string[] {
  const spentOrders = Math.ceil(spent / coinsOfOrder);
  const orders = spentOrders + Math.ceil(unspent / coinsOfOrder);
  const batches = Math.ceil(spentOrders / ordersOfBatch);
  const account = (order: string): string => `'shop ' || ${order} % ${accounts}`;
  const all = `generate_series(0, ${orders - 1}) AS o`;
  return [
    `INSERT INTO service.accounts (name) SELECT 'shop ' || a FROM generate_series(0, ${accounts - 1}) AS a`,
    `INSERT INTO service.assets (id, etching, rune) OVERRIDING SYSTEM VALUE VALUES (1, sha256('etching'), 1)`,
    `INSERT INTO service.token_runes (asset, name, divisibility) VALUES (1, 'BENCH•COIN', 0)`,
    `INSERT INTO service.token_orders (id, account, created_at, expires_at, ends_at, state, asset, base_fee, additional_fee)
     SELECT ${idOf('o')}, ${account('o')}, now() - interval '9 days', now() - interval '8 days', now() - interval '8 days',
            CASE WHEN o < ${orders} THEN 'completed' ELSE 'pending' END, 1, ${baseFee}, ${additional}
       FROM generate_series(0, ${orders + open - 1}) AS o`,
    `INSERT INTO service.token_charges (order_id, kind, amount, script, address, key_index, state)
     SELECT ${idOf('o')}, kind, 10, '\\x5120' || ${hashOf('script', "o || '/' || vout")}, 'an address', o, 'completed'
       FROM ${all}, (VALUES ('fee', 0), ('token', 1)) AS c (kind, vout)`,
    `INSERT INTO service.payments_seen (txid, vout, script, value, first_seen, height, hash)
     SELECT ${hashOf('payment', 'o')}, vout, '\\x5120' || ${hashOf('script', "o || '/' || vout")},
            CASE vout WHEN 0 THEN ${baseFee + additional} ELSE ${runeSats} END, now(), ${height}, sha256('block')
       FROM ${all}, generate_series(0, 1) AS vout`,
    `INSERT INTO service.token_credits (txid, vout, order_id, kind, height, hash, first_seen, sats)
     SELECT ${hashOf('payment', 'o')}, vout, ${idOf('o')}, CASE vout WHEN 0 THEN 'fee' ELSE 'token' END, ${height}, sha256('block'),
            now(), CASE vout WHEN 0 THEN ${baseFee + additional} ELSE ${runeSats} END
       FROM ${all}, generate_series(0, 1) AS vout`,
    `INSERT INTO service.token_credit_runes (txid, vout, asset, amount)
     SELECT ${hashOf('payment', 'o')}, 1, 1, ${units} FROM ${all}`,
    // the base fee is owed until the order is completed; then it belongs to the service
    `INSERT INTO service.ledger_entries (subject_kind, subject_id, from_account, from_owner, to_account, to_owner, asset, amount, txid, vout)
     SELECT 'token-order', ${idOf('o')}, e.from_account, NULL, e.to_account,
            CASE e.to_account WHEN 'token' THEN ${account('o')} END, e.asset, e.amount, ${hashOf('payment', 'o')}, e.vout
       FROM ${all}, (VALUES ('outside', 'owed', 0, ${baseFee}, 0), ('outside', 'token', 0, ${additional}, 0),
                            ('outside', 'token', 0, ${runeSats}, 1), ('outside', 'token', 1, ${units}, 1),
                            ('owed', 'outside', 0, ${baseFee}, 0), ('outside', 'service', 0, ${baseFee}, 0))
              AS e (from_account, to_account, asset, amount, vout)`,
    `INSERT INTO service.payouts (id, kind, state)
     SELECT md5('batch ' || b)::uuid, 'withdrawal', 'settled' FROM generate_series(0, ${batches - 1}) AS b`,
    `INSERT INTO service.wallet_transactions (txid, kind, index, files, bytes, plan, fee, own_index, payout_id, height)
     SELECT ${hashOf('batch', 'b')}, 'payout', 0, 0, '\\x00', '{"inputs": [], "outputs": []}', 1000, b, md5('batch ' || b)::uuid, ${height}
       FROM generate_series(0, ${batches - 1}) AS b`,
    `INSERT INTO service.wallet_spends (txid, vout, family)
     SELECT ${hashOf('payment', 'o')}, vout, ${hashOf('batch', `o / ${ordersOfBatch}`)}
       FROM generate_series(0, ${spentOrders - 1}) AS o, generate_series(0, 1) AS vout`,
    `INSERT INTO service.wallet_coins (txid, vout, value, branch, key_index, kind, subject, held, why)
     SELECT ${hashOf('payment', 'o')}, vout, CASE vout WHEN 0 THEN ${baseFee + additional} ELSE ${runeSats} END,
            CASE vout WHEN 0 THEN 3 ELSE 0 END, o, 'token-order', ${idOf('o')}, 'accounts', 'credit'
       FROM ${all}, generate_series(0, 1) AS vout`,
    `INSERT INTO service.withdrawals (id, account, asset, amount, script, address, fee, postage, payer, state, payout, txid)
     SELECT md5('withdrawal ' || o)::uuid, ${account('o')}, 1, ${units}, '\\x51', 'an address', 300, 330, 'balance', 'completed',
            md5('batch ' || o / ${ordersOfBatch})::uuid, ${hashOf('batch', `o / ${ordersOfBatch}`)}
       FROM generate_series(0, ${spentOrders - 1}) AS o`,
    // these entries do not contain the amounts of withdrawals, so balances are the sums of the remaining coins
    `INSERT INTO service.token_balances (account, asset, amount)
     SELECT ${account('o')}, asset, sum(CASE asset WHEN 0 THEN ${additional + runeSats} ELSE ${units} END)
       FROM generate_series(${spentOrders}, ${orders - 1}) AS o, generate_series(0, 1) AS asset GROUP BY 1, 2`,
  ];
}

/** Makes a waiting batch of 500 withdrawals, each of a different account. */
export async function openBatch(
  client: pg.Client,
): Promise<{ readonly payout: string; readonly accounts: readonly string[] }> {
  const accounts = Array.from({ length: 500 }, (_, nth) => `shop ${nth}`);
  const { rows } = await client.query<{ id: string }>(
    `INSERT INTO service.payouts (kind, state) VALUES ('withdrawal', 'asked') RETURNING id`,
  );
  const payout = rows[0]?.id ?? '';
  await client.query(
    `INSERT INTO service.withdrawals (id, account, asset, amount, script, address, fee, postage, payer, payout)
     SELECT gen_random_uuid(), account, 1, 1, '\\x51', 'an address', 300, 330, 'balance', $2 FROM unnest($1::text[]) AS account`,
    [accounts, payout],
  );
  await client.query('ANALYZE service.withdrawals');
  return { payout, accounts };
}
