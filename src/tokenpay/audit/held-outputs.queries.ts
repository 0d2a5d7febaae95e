import type pg from 'pg';
import { hasAddressIndex } from '#chain/outputs/address.queries.ts';
import type { Txid } from '#kernel/primitives/hash.ts';
import { outpointOf } from '#purse/transactions/outpoint.ts';
import { spentByMined } from '#purse/transactions/spent-by-mined.queries.ts';
import type { ChargeKind } from '#tokenpay/order/token-order.ts';
import { type OutputOutcome, outcomeOf } from './rune-parts.queries.ts';

/** An unspent output of a block at the address of a charge. */
export interface HeldOutput {
  readonly txid: Txid;
  readonly vout: number;
  readonly address: string;
  readonly charge: ChargeKind;
  /** The index of the key of its address, in the branch of the charge. */
  readonly keyIndex: number;
  readonly sats: bigint;
  readonly outcome: OutputOutcome;
}

/**
 * Unspent outputs of blocks at addresses of charges. With the index of addresses all of them are in it; without it, an
 * output counts until a transaction of ours that spends it is in a block.
 */
export async function readHeldOutputs(client: pg.ClientBase): Promise<HeldOutput[]> {
  const { rows } = await client.query<Omit<HeldOutput, 'sats'> & { sats: string }>(
    `SELECT p.txid, p.vout, t.address, t.kind AS charge, t.key_index AS "keyIndex", p.value::text AS sats,
            ${outcomeOf('c')} AS outcome
       FROM service.token_charges AS t
       JOIN service.payments_seen AS p ON p.script = t.script AND p.height IS NOT NULL
       LEFT JOIN service.token_credits AS c ON c.txid = p.txid AND c.vout = p.vout
      WHERE NOT $1 OR EXISTS (
        SELECT FROM chain.outputs AS o
         WHERE chain.hash64(o.txid, o.vout) = chain.hash64(p.txid, p.vout) AND o.txid = p.txid AND o.vout = p.vout
           AND o.spent_height IS NULL)`,
    [await hasAddressIndex(client)],
  );
  const spent = await spentByMined(
    client,
    rows.map(({ txid }) => txid),
  );
  const gone = new Set(spent.map(outpointOf));
  return rows
    .filter((row) => !gone.has(outpointOf(row)))
    .map(({ sats, ...row }) => ({ ...row, sats: BigInt(sats) }));
}

/** Sats of base fees that came for orders of shops: held until the order ends, and revenue then. */
export async function readTokenFees(client: pg.ClientBase): Promise<bigint> {
  const { rows } = await client.query<{ sats: string }>(
    `SELECT (coalesce(sum(amount) FILTER (WHERE to_account IN ('owed', 'service')), 0)
           - coalesce(sum(amount) FILTER (WHERE from_account IN ('owed', 'service')), 0))::text AS sats
       FROM service.ledger_entries WHERE subject_kind = 'token-order' AND asset = 0`,
  );
  return BigInt(rows[0]?.sats ?? 0);
}
