import type pg from 'pg';
import { type Txid, trustedTxid } from '#kernel/primitives/hash.ts';
import { minedHeight } from '#payments/payments.queries.ts';
import { outpointParts } from './outpoint.ts';
import type { StoredPlan } from './stored-plan.ts';

/**
 * Thrown if an output that a plan spends is already in another plan that may be mined. The database transaction has
 * failed, so nothing of the plan is stored. A new plan can use the outputs that are free then.
 */
export class OutputTaken extends Error {
  constructor(cause: unknown) {
    super('another transaction spends an output of this plan', { cause });
    this.name = 'OutputTaken';
  }
}

/**
 * SQL: the family of a transaction. A family consists of all transactions that replace each other. `transaction` is the
 * name of the transaction's row in the statement.
 */
export const familyOf = (transaction: string): string =>
  `coalesce(${transaction}.replaces, ${transaction}.txid)`;

/**
 * SQL: whether a transaction belongs to a family. `transaction` is the name of the transaction's row, `family` is an
 * SQL expression.
 */
export const isOfFamily = (transaction: string, family: string): string =>
  `(${transaction}.txid = ${family} OR ${transaction}.replaces = ${family})`;

/**
 * SQL: whether a transaction is in a block. At least one output of the transaction must be watched. `transaction` is
 * the name of the transaction's row. The expression is evaluated for each row, because with EXISTS, Postgres would read
 * all payments even for a few bumps.
 */
export const isMined = (transaction: string): string =>
  `(${transaction}.height IS NOT NULL OR ${minedHeight(`${transaction}.txid`)} IS NOT NULL)`;

/**
 * SQL: whether a stored transaction spends an output, and is mined or can still be mined. `txid` and `vout` are SQL
 * expressions.
 */
export const isSpent = (txid: string, vout: string): string =>
  `EXISTS (SELECT FROM service.wallet_spends AS spend
            WHERE spend.txid = ${txid} AND spend.vout = ${vout} AND spend.ended_at IS NULL)`;

/**
 * SQL: whether the stored transaction with this txid is active, so that its inputs are still taken. A transaction that
 * was given up is not active.
 */
export const isLive = (txid: string): string =>
  `EXISTS (SELECT FROM service.wallet_transactions AS live WHERE live.txid = ${txid} AND live.superseded_at IS NULL)`;

/**
 * Outpoints as SQL parameters. They are always sorted, so that two processes that take the same outputs never deadlock.
 */
export function spentParameters(plans: readonly Pick<StoredPlan, 'inputs'>[]): [Buffer[], number[]] {
  const outpoints = plans
    .flatMap(({ inputs }) => inputs.map(({ outpoint }) => outpointParts(outpoint)))
    .map(({ txid, vout }) => ({ txid: Buffer.from(txid), vout }))
    .toSorted((a, b) => Buffer.compare(a.txid, b.txid) || a.vout - b.vout);
  return [outpoints.map(({ txid }) => txid), outpoints.map(({ vout }) => vout)];
}

/** Takes the inputs of a plan for its family. The database refuses an output that another active family has taken. */
export async function beginSpends(
  tx: pg.ClientBase,
  family: Txid,
  plan: Pick<StoredPlan, 'inputs'>,
): Promise<void> {
  await tx.query(
    `INSERT INTO service.wallet_spends AS s (txid, vout, family)
     SELECT i.txid, i.vout, $1 FROM unnest($2::bytea[], $3::integer[]) AS i (txid, vout)
     ON CONFLICT (txid, vout, family) DO UPDATE SET ended_at = NULL`,
    [Buffer.from(family), ...spentParameters([plan])],
  );
}

/** Number of outputs that a family has taken. */
export async function countSpends(tx: pg.ClientBase, family: Txid): Promise<number> {
  const { rows } = await tx.query<{ live: number }>(
    'SELECT count(*)::int AS live FROM service.wallet_spends WHERE family = $1 AND ended_at IS NULL',
    [Buffer.from(family)],
  );
  return rows[0]?.live ?? 0;
}

/** Frees outputs of these families, if no active transaction of the family spends them any longer. */
export async function endSpends(tx: pg.ClientBase, families: readonly Txid[]): Promise<void> {
  await tx.query(
    `UPDATE service.wallet_spends AS s SET ended_at = now()
      WHERE s.family = ANY($1) AND s.ended_at IS NULL
        AND NOT EXISTS (SELECT FROM service.wallet_transactions AS t
                         WHERE ${isOfFamily('t', 's.family')} AND t.superseded_at IS NULL AND ${hasInput('t', 's')})`,
    [families.map((family) => Buffer.from(family))],
  );
}

/**
 * SQL: whether a transaction spends the output in a row of its family's spends. Plans have txids in display order.
 * Postgres 15 cannot reverse bytes, so all hex digits are reversed, and then the digits of each pair.
 */
export const hasInput = (transaction: string, spend: string): string =>
  `${transaction}.plan->'inputs' @> jsonb_build_array(jsonb_build_object('outpoint',
     regexp_replace(reverse(encode(${spend}.txid, 'hex')), '(.)(.)', '\\2\\1', 'g') || ':' || ${spend}.vout))`;

/** Converts the database's refusal of an output that another plan has taken into `OutputTaken`. */
export async function refuseTaken(taking: Promise<void>): Promise<void> {
  try {
    await taking;
  } catch (error) {
    throw isTaken(error) ? new OutputTaken(error) : error;
  }
}

const isTaken = (error: unknown): boolean =>
  error instanceof Error &&
  'code' in error &&
  error.code === '23505' &&
  'constraint' in error &&
  error.constraint === 'wallet_spends_live';

/** Transactions of other families that can still be mined and that spend an output of these plans. */
export async function rivalsOf(
  tx: pg.ClientBase,
  families: readonly Txid[],
  plans: readonly Pick<StoredPlan, 'inputs'>[],
): Promise<readonly { readonly txid: Txid; readonly orderId: string | null }[]> {
  const { rows } = await tx.query<{ txid: Buffer; order_id: string | null }>(
    `SELECT DISTINCT t.txid, t.order_id
       FROM unnest($2::bytea[], $3::integer[]) AS i (txid, vout)
       JOIN service.wallet_spends AS s ON s.txid = i.txid AND s.vout = i.vout AND s.ended_at IS NULL
       JOIN service.wallet_transactions AS t ON ${isOfFamily('t', 's.family')}
      WHERE s.family <> ALL ($1::bytea[]) AND t.superseded_at IS NULL`,
    [families.map((family) => Buffer.from(family)), ...spentParameters(plans)],
  );
  return rows.map(({ txid, order_id: orderId }) => ({ txid: trustedTxid(txid), orderId }));
}
