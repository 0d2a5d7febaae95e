import type pg from 'pg';
import type { BlockHash, Txid } from '#kernel/primitives/hash.ts';
import type { Height } from '#kernel/primitives/height.ts';
import type { ChargeKind } from '#tokenpay/order/token-order.ts';
import type { Credit } from './credit.ts';

/** Reads credits of orders, by order id. */
export async function readCredits(
  client: pg.Pool | pg.ClientBase,
  orderIds: readonly string[],
): Promise<ReadonlyMap<string, readonly Credit[]>> {
  const { rows } = await client.query<{
    order_id: string;
    txid: Txid;
    vout: number;
    kind: ChargeKind;
    height: Height;
    hash: BlockHash;
    first_seen: Date;
    sats: string;
    aside: Credit['aside'];
    runes: readonly { readonly asset: number; readonly amount: string }[];
  }>(
    `SELECT c.order_id, c.txid, c.vout, c.kind, c.height, c.hash, c.first_seen, c.sats::text AS sats, c.aside,
            coalesce((SELECT jsonb_agg(jsonb_build_object('asset', r.asset, 'amount', r.amount::text) ORDER BY r.asset)
                        FROM service.token_credit_runes AS r WHERE r.txid = c.txid AND r.vout = c.vout), '[]') AS runes
       FROM service.token_credits AS c WHERE c.order_id = ANY($1::uuid[])`,
    [orderIds],
  );
  const byOrder = Map.groupBy(rows, ({ order_id: id }) => id);
  return new Map(
    [...byOrder].map(([id, of]) => [
      id,
      of.map((row) => ({
        txid: row.txid,
        vout: row.vout,
        charge: row.kind,
        block: { height: row.height, hash: row.hash },
        firstSeen: row.first_seen,
        sats: BigInt(row.sats),
        runes: row.runes.map(({ asset, amount }) => ({ asset, amount: BigInt(amount) })),
        aside: row.aside,
      })),
    ]),
  );
}

/**
 * The order to which an output is credited, or for which it is set aside. Returns null if the output belongs to no
 * order.
 */
export async function orderOfCredit(
  client: pg.Pool | pg.ClientBase,
  { txid, vout }: Pick<Credit, 'txid' | 'vout'>,
): Promise<string | null> {
  const { rows } = await client.query<{ order_id: string }>(
    'SELECT order_id FROM service.token_credits WHERE txid = $1 AND vout = $2',
    [Buffer.from(txid), vout],
  );
  return rows[0]?.order_id ?? null;
}

/** Credits an output that was set aside. */
export async function creditAside(
  tx: pg.ClientBase,
  { txid, vout }: Pick<Credit, 'txid' | 'vout'>,
): Promise<void> {
  await tx.query('UPDATE service.token_credits SET aside = NULL WHERE txid = $1 AND vout = $2', [
    Buffer.from(txid),
    vout,
  ]);
}

/** Stores new credits, each with the id of its order. */
export async function addCredits(
  tx: pg.ClientBase,
  added: readonly { readonly orderId: string; readonly credit: Credit }[],
): Promise<void> {
  if (added.length === 0) return;
  await tx.query(
    `INSERT INTO service.token_credits (txid, vout, order_id, kind, height, hash, first_seen, sats, aside)
     SELECT * FROM unnest($1::bytea[], $2::integer[], $3::uuid[], $4::text[], $5::integer[], $6::bytea[],
                          $7::timestamptz[], $8::bigint[], $9::text[])`,
    [
      added.map(({ credit }) => Buffer.from(credit.txid)),
      added.map(({ credit }) => credit.vout),
      added.map(({ orderId }) => orderId),
      added.map(({ credit }) => credit.charge),
      added.map(({ credit }) => credit.block.height),
      added.map(({ credit }) => Buffer.from(credit.block.hash)),
      added.map(({ credit }) => credit.firstSeen),
      added.map(({ credit }) => credit.sats),
      added.map(({ credit }) => credit.aside),
    ],
  );
  const runes = added.flatMap(({ credit }) => credit.runes.map((rune) => ({ ...rune, credit })));
  if (runes.length === 0) return;
  await tx.query(
    `INSERT INTO service.token_credit_runes (txid, vout, asset, amount)
     SELECT * FROM unnest($1::bytea[], $2::integer[], $3::integer[], $4::numeric[])`,
    [
      runes.map(({ credit }) => Buffer.from(credit.txid)),
      runes.map(({ credit }) => credit.vout),
      runes.map(({ asset }) => asset),
      runes.map(({ amount }) => amount),
    ],
  );
}

/** Deletes credits whose blocks are gone. */
export async function removeCredits(tx: pg.ClientBase, credits: readonly Credit[]): Promise<void> {
  if (credits.length === 0) return;
  await tx.query(
    `DELETE FROM service.token_credits AS c USING unnest($1::bytea[], $2::integer[]) AS g (txid, vout)
      WHERE c.txid = g.txid AND c.vout = g.vout`,
    [credits.map(({ txid }) => Buffer.from(txid)), credits.map(({ vout }) => vout)],
  );
}
