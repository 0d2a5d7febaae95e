import type pg from 'pg';
import { indexTipHash } from '#chain/blocks/index-tip.queries.ts';
import { paymentsTipHash } from '#payments/store/offset.store.ts';
import { runeParts } from './rune-parts.queries.ts';
import type { TokenDifference } from './token-differences.ts';

/** Whether the index and the payments have the same last block. */
export async function areAtOneBlock(client: pg.ClientBase): Promise<boolean> {
  const { rowCount } = await client.query(`SELECT WHERE ${indexTipHash} = ${paymentsTipHash}`);
  return rowCount === 1;
}

interface Row {
  readonly place: string;
  readonly noted: string;
  readonly found: string;
}

const faultsOf = (kind: TokenDifference['kind'], rows: readonly Row[]): TokenDifference[] =>
  rows.map(({ place, noted, found }) => ({ kind, where: place, noted: BigInt(noted), found: BigInt(found) }));

/** Balances that differ from the sums of the ledger entries. */
export async function balanceFaults(client: pg.ClientBase): Promise<TokenDifference[]> {
  const { rows } = await client.query<Row>(
    `WITH entries AS (
       SELECT owner, asset, sum(moved) AS amount
         FROM (SELECT to_owner AS owner, asset, amount AS moved FROM service.ledger_entries WHERE to_account = 'token'
               UNION ALL
               SELECT from_owner, asset, -amount FROM service.ledger_entries WHERE from_account = 'token') AS sides
        GROUP BY owner, asset)
     SELECT concat(coalesce(b.account, e.owner), ' asset ', coalesce(b.asset, e.asset)) AS place,
            coalesce(b.amount, 0)::text AS noted, coalesce(e.amount, 0)::text AS found
       FROM service.token_balances AS b
       FULL JOIN entries AS e ON e.owner = b.account AND e.asset = b.asset
      WHERE coalesce(b.amount, 0) <> coalesce(e.amount, 0) ORDER BY place`,
  );
  return faultsOf('balance', rows);
}

/** Orders whose ledger entries differ from their credits, by asset. */
export async function entryFaults(client: pg.ClientBase): Promise<TokenDifference[]> {
  const { rows } = await client.query<Row>(
    `WITH entries AS (
       SELECT subject_id AS id, asset, sum(CASE WHEN from_account = 'outside' THEN amount ELSE -amount END) AS amount
         FROM service.ledger_entries
        WHERE subject_kind = 'token-order' AND 'outside' IN (from_account, to_account) GROUP BY subject_id, asset
     ), credits AS (
       SELECT id, asset, sum(amount) AS amount
         FROM (SELECT order_id AS id, 0 AS asset, sats AS amount FROM service.token_credits
                WHERE aside IS NULL AND sats > 0
               UNION ALL
               SELECT c.order_id, r.asset, r.amount FROM service.token_credits AS c
                 JOIN service.token_credit_runes AS r USING (txid, vout) WHERE c.aside IS NULL) AS parts
        GROUP BY id, asset)
     SELECT concat('order ', coalesce(e.id, c.id), ' asset ', coalesce(e.asset, c.asset)) AS place,
            coalesce(e.amount, 0)::text AS noted, coalesce(c.amount, 0)::text AS found
       FROM entries AS e FULL JOIN credits AS c USING (id, asset)
      WHERE coalesce(e.amount, 0) <> coalesce(c.amount, 0) ORDER BY place`,
  );
  return faultsOf('entries', rows);
}

/** Batches whose withdrawals differ from their ledger entries, by account and asset. */
export async function withdrawalFaults(client: pg.ClientBase): Promise<TokenDifference[]> {
  const { rows } = await client.query<Row>(
    `WITH entries AS (
       SELECT subject_id AS id, coalesce(from_owner, to_owner) AS account, asset,
              sum(CASE WHEN from_account = 'token' THEN amount ELSE -amount END) AS amount
         FROM service.ledger_entries
        WHERE subject_kind = 'withdrawal' AND 'token' IN (from_account, to_account)
        GROUP BY subject_id, coalesce(from_owner, to_owner), asset
     ), completed AS (
       SELECT w.payout AS id, w.account, side.asset, sum(side.units) AS amount
         FROM service.withdrawals AS w
         CROSS JOIN LATERAL (VALUES (w.asset, w.reserved_units), (0, w.reserved_sats::numeric)) AS side (asset, units)
        WHERE w.state = 'completed' GROUP BY w.payout, w.account, side.asset)
     SELECT concat('batch ', coalesce(e.id, c.id), ' of ', coalesce(e.account, c.account), ' asset ', coalesce(e.asset, c.asset))
              AS place,
            coalesce(e.amount, 0)::text AS noted, coalesce(c.amount, 0)::text AS found
       FROM entries AS e FULL JOIN completed AS c USING (id, account, asset)
      WHERE coalesce(e.amount, 0) <> coalesce(c.amount, 0) ORDER BY place`,
  );
  return faultsOf('withdrawals', rows);
}

/** Balances whose reserved units differ from the units that open withdrawals reserve. */
export async function reservedFaults(client: pg.ClientBase): Promise<TokenDifference[]> {
  const { rows } = await client.query<Row>(
    `WITH open AS (
       SELECT w.account, side.asset, sum(side.units) AS units
         FROM service.withdrawals AS w
         CROSS JOIN LATERAL (VALUES (w.asset, w.reserved_units), (0, w.reserved_sats::numeric)) AS side (asset, units)
        WHERE w.state IN ('pending', 'processing') GROUP BY w.account, side.asset)
     SELECT concat(coalesce(b.account, o.account), ' asset ', coalesce(b.asset, o.asset)) AS place,
            coalesce(b.reserved, 0)::text AS noted, coalesce(o.units, 0)::text AS found
       FROM service.token_balances AS b FULL JOIN open AS o USING (account, asset)
      WHERE coalesce(b.reserved, 0) <> coalesce(o.units, 0) ORDER BY place`,
  );
  return faultsOf('reserved', rows);
}

/** Coins of accounts that are marked spent or unspent in contradiction to the stored transactions. */
export async function spentFaults(client: pg.ClientBase): Promise<TokenDifference[]> {
  const { rows } = await client.query<Row>(
    `SELECT concat(encode(c.txid, 'hex'), ':', c.vout, ' (txid in internal order)') AS place,
            c.is_spent::integer::text AS noted, (s.txid IS NOT NULL)::integer::text AS found
       FROM service.wallet_coins AS c
       LEFT JOIN service.wallet_spends AS s ON s.txid = c.txid AND s.vout = c.vout AND s.ended_at IS NULL
      WHERE c.held = 'accounts' AND c.is_spent <> (s.txid IS NOT NULL) ORDER BY place`,
  );
  return faultsOf('spent', rows);
}

/**
 * Credits whose payment is in another block, or in no block. The amounts in the result are block heights, and -1 means
 * no block.
 */
export async function creditFaults(client: pg.ClientBase): Promise<TokenDifference[]> {
  const { rows } = await client.query<Row>(
    `SELECT concat(encode(c.txid, 'hex'), ':', c.vout, ' (txid in internal order)') AS place, c.height::text AS noted,
            coalesce(p.height, -1)::text AS found
       FROM service.token_credits AS c LEFT JOIN service.payments_seen AS p ON p.txid = c.txid AND p.vout = c.vout
      WHERE p.hash IS DISTINCT FROM c.hash OR p.height IS DISTINCT FROM c.height ORDER BY place`,
  );
  return faultsOf('credit', rows);
}

/**
 * Runes whose units do not match. The units in the ledger, set aside and not credited yet differ from the units at
 * addresses of charges.
 */
export async function supplyFaults(client: pg.ClientBase): Promise<TokenDifference[]> {
  const parts = await runeParts(client);
  return parts.flatMap((part) => {
    const noted = part.liabilities - part.debts + part.aside + part.waiting;
    return noted === part.held ? [] : [{ kind: 'supply', where: part.name, noted, found: part.held }];
  });
}
