import type pg from 'pg';
import type { LedgerAccount, LedgerEntry } from './ledger.ts';

/** The entries of an order, in their order; null: of the operator's funds. */
export async function readEntries(
  client: pg.Pool | pg.ClientBase,
  orderId: string | null,
): Promise<LedgerEntry[]> {
  const { rows } = await client.query<{
    from_account: LedgerAccount;
    to_account: LedgerAccount;
    sats: number;
    txid: Buffer;
    vout: number | null;
  }>(
    `SELECT from_account, to_account, sats, txid, vout FROM service.ledger_entries
      WHERE ${orderId === null ? 'order_id IS NULL' : 'order_id = $1'} ORDER BY id`,
    orderId === null ? [] : [orderId],
  );
  return rows.map(({ from_account: from, to_account: to, sats, txid, vout }) => ({
    from,
    to,
    sats: BigInt(sats),
    txid: txid.toString('hex'),
    vout,
  }));
}

/** Adds entries of an order; null: of the operator's funds. */
export async function addEntries(
  tx: pg.ClientBase,
  orderId: string | null,
  entries: readonly LedgerEntry[],
): Promise<void> {
  if (entries.length === 0) return;
  await tx.query(
    `INSERT INTO service.ledger_entries (order_id, from_account, to_account, sats, txid, vout)
     SELECT $1, e.from_account, e.to_account, e.sats, decode(e.txid, 'hex'), e.vout
       FROM unnest($2::text[], $3::text[], $4::bigint[], $5::text[], $6::bigint[])
            AS e (from_account, to_account, sats, txid, vout)`,
    [
      orderId,
      entries.map(({ from }) => from),
      entries.map(({ to }) => to),
      entries.map(({ sats }) => sats),
      entries.map(({ txid }) => txid),
      entries.map(({ vout }) => vout),
    ],
  );
}

/** Sats that were booked as revenue since a time, less what was taken back. */
export async function revenueSince(client: pg.Pool | pg.ClientBase, since: Date): Promise<bigint> {
  const { rows } = await client.query<{ sats: string }>(
    `SELECT coalesce(sum(CASE WHEN to_account = 'service' THEN sats ELSE -sats END), 0)::text AS sats
       FROM service.ledger_entries WHERE at > $1 AND 'service' IN (from_account, to_account)`,
    [since],
  );
  return BigInt(rows[0]?.sats ?? 0);
}

/** Sats that an account got from a transaction of an order, less what left it. */
export interface LedgerSum {
  readonly id: string;
  readonly txid: Buffer;
  /** It came in with a payment of this transaction; else it is a transaction of ours. */
  readonly isReceipt: boolean;
  readonly account: LedgerAccount;
  readonly sats: bigint;
}

/** The sums of these orders, without those that come to nothing. */
export async function readSums(client: pg.ClientBase, ids: readonly string[]): Promise<LedgerSum[]> {
  const { rows } = await client.query<{
    id: string;
    txid: Buffer;
    is_receipt: boolean;
    account: LedgerAccount;
    sats: string;
  }>(
    `SELECT order_id AS id, txid, vout IS NOT NULL AS is_receipt, account, sum(sats)::text AS sats
       FROM (SELECT order_id, txid, vout, to_account AS account, sats FROM service.ledger_entries
              WHERE order_id = ANY($1::uuid[])
             UNION ALL
             SELECT order_id, txid, vout, from_account, -sats FROM service.ledger_entries
              WHERE order_id = ANY($1::uuid[])) AS moved
      GROUP BY order_id, txid, vout IS NOT NULL, account HAVING sum(sats) <> 0`,
    [ids],
  );
  return rows.map(({ is_receipt: isReceipt, sats, ...row }) => ({ ...row, isReceipt, sats: BigInt(sats) }));
}

/** Balances of all accounts. */
export async function readBalances(
  client: pg.ClientBase,
): Promise<{ readonly account: LedgerAccount; readonly sats: bigint }[]> {
  const { rows } = await client.query<{ account: LedgerAccount; sats: string }>(
    `SELECT account, sum(sats)::text AS sats
       FROM (SELECT to_account AS account, sats FROM service.ledger_entries
             UNION ALL SELECT from_account, -sats FROM service.ledger_entries) AS moved
      GROUP BY account ORDER BY account`,
  );
  return rows.map(({ account, sats }) => ({ account, sats: BigInt(sats) }));
}
