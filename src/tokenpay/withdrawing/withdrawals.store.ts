import type pg from 'pg';
import { type Txid, trustedTxid } from '#kernel/primitives/hash.ts';
import { satsAsset } from '#purse/ledger/ledger.ts';
import {
  type NewWithdrawal,
  reservedOf,
  type Withdrawal,
  type WithdrawalPayer,
  type WithdrawalState,
} from './withdrawal.ts';

interface Row {
  readonly id: string;
  readonly account: string;
  readonly created_at: Date;
  readonly asset: number;
  readonly amount: string;
  readonly script: Buffer;
  readonly address: string;
  readonly fee: string;
  readonly postage: string;
  readonly payer: WithdrawalPayer;
  readonly fee_rate: string | null;
  readonly state: WithdrawalState;
  readonly reason: string | null;
  readonly payout: string | null;
  readonly is_alone: boolean;
  readonly txid: Txid | null;
  readonly paid_rate: string | null;
  readonly tries: number;
  readonly processing_at: Date | null;
  readonly webhook_url: string | null;
  readonly secret_key: Buffer | null;
  readonly cancel_asked_at: Date | null;
}

const columns = `w.id, w.account, w.created_at, w.asset, w.amount::text AS amount, w.script, w.address, w.fee::text AS fee,
  w.postage::text AS postage, w.payer, w.fee_rate::text AS fee_rate, w.state, w.reason, w.payout, w.is_alone, w.txid,
  w.paid_rate::text AS paid_rate, w.tries, w.processing_at, w.webhook_url, w.secret_key,
  w.cancel_asked_at`;

const bigOrNull = (text: string | null): bigint | null => (text === null ? null : BigInt(text));

const withdrawalOf = ({
  created_at: createdAt,
  fee_rate: feeRate,
  is_alone: isAlone,
  paid_rate: paidRate,
  processing_at: processingAt,
  webhook_url: webhookUrl,
  secret_key: secretKey,
  cancel_asked_at: cancelAskedAt,
  txid,
  ...row
}: Row): Withdrawal => ({
  ...row,
  createdAt,
  isAlone,
  processingAt,
  webhookUrl,
  secretKey,
  cancelAskedAt,
  amount: BigInt(row.amount),
  fee: BigInt(row.fee),
  postage: BigInt(row.postage),
  feeRate: bigOrNull(feeRate),
  paidRate: bigOrNull(paidRate),
  txid: txid === null ? null : trustedTxid(txid),
});

/**
 * Reserves the units of a withdrawal and stores it, in one statement. If two withdrawals need the last units, one waits
 * for the other and then finds too few units. Returns null if the account has too little of an asset, or if it owes.
 * The caller must then roll its transaction back, so that nothing is reserved.
 *
 * @param debtMax sats that the account may owe for the price, if runes are withdrawn
 */
export async function reserveWithdrawal(
  tx: pg.ClientBase,
  made: NewWithdrawal,
  debtMax: bigint,
): Promise<Withdrawal | null> {
  const reserved = reservedOf(made);
  const assets = reserved.map(({ asset }) => asset);
  await tx.query(
    `INSERT INTO service.token_balances (account, asset)
     SELECT $1, asset FROM unnest($2::integer[]) AS a (asset) ORDER BY asset ON CONFLICT DO NOTHING`,
    [made.account, assets],
  );
  // ledger postings lock the rows of an account in the same sequence
  await tx.query(
    `SELECT FROM service.token_balances WHERE account = $1 AND asset = ANY($2::integer[]) ORDER BY asset FOR UPDATE`,
    [made.account, assets],
  );
  const debts = assets.map((asset) => (asset === satsAsset && made.asset !== satsAsset ? -debtMax : 0n));
  const { rows } = await tx.query<Row>(
    `WITH taken AS (
       UPDATE service.token_balances AS b SET reserved = b.reserved + a.units
         FROM unnest($2::integer[], $3::numeric[], $4::numeric[]) AS a (asset, units, least)
        WHERE b.account = $1 AND b.asset = a.asset AND b.amount - b.reserved - a.units >= a.least
       RETURNING b.asset)
     INSERT INTO service.withdrawals AS w (id, account, asset, amount, script, address, fee, postage, payer, fee_rate,
                                           webhook_url, secret_key)
     SELECT $5, $1, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15
      WHERE (SELECT count(*) FROM taken) = cardinality($2::integer[])
     RETURNING ${columns}`,
    [
      made.account,
      assets,
      reserved.map(({ units }) => units),
      debts,
      made.id,
      made.asset,
      made.amount,
      Buffer.from(made.script),
      made.address,
      made.fee,
      made.postage,
      made.payer,
      made.feeRate,
      made.webhookUrl,
      made.secretKey === null ? null : Buffer.from(made.secretKey),
    ],
  );
  return rows[0] === undefined ? null : withdrawalOf(rows[0]);
}

/** The units of an asset in an account, and the part of them that open withdrawals reserve. */
export interface AvailableUnits {
  readonly amount: bigint;
  readonly reserved: bigint;
}

/** Balances of an account with their reserved units, by asset. */
export async function readAvailable(
  client: pg.Pool | pg.ClientBase,
  account: string,
): Promise<ReadonlyMap<number, AvailableUnits>> {
  const { rows } = await client.query<{ asset: number; amount: string; reserved: string }>(
    `SELECT asset, amount::text AS amount, reserved::text AS reserved FROM service.token_balances WHERE account = $1`,
    [account],
  );
  return new Map(
    rows.map(({ asset, amount, reserved }) => [
      asset,
      { amount: BigInt(amount), reserved: BigInt(reserved) },
    ]),
  );
}

/**
 * Reads a withdrawal of an account, or of any account if `account` is null. Returns null if the account has no
 * withdrawal with this id.
 */
export async function readWithdrawal(
  client: pg.Pool | pg.ClientBase,
  account: string | null,
  id: string,
): Promise<Withdrawal | null> {
  const { rows } = await client.query<Row>(
    `SELECT ${columns} FROM service.withdrawals AS w WHERE w.id = $1 AND ($2::text IS NULL OR w.account = $2)`,
    [id, account],
  );
  return rows[0] === undefined ? null : withdrawalOf(rows[0]);
}

/**
 * Maximum number of pending withdrawals that are read to price a new withdrawal of the account. Each costs some tenths
 * of a millisecond. A withdrawal is normally pending only for seconds, so an account has more only if nothing is signed
 * for a while.
 */
const pricedBesideMax = 100;

/** Withdrawals of an account without a signed transaction, the oldest first. They take coins in this sequence. */
export async function pendingWithdrawals(
  client: pg.Pool | pg.ClientBase,
  account: string,
): Promise<Withdrawal[]> {
  const { rows } = await client.query<Row>(
    `SELECT ${columns} FROM service.withdrawals AS w WHERE w.state = 'pending' AND w.account = $1
      ORDER BY w.created_at, w.id LIMIT $2`,
    [account, pricedBesideMax],
  );
  return rows.map(withdrawalOf);
}

/** Locks all withdrawals without a signed transaction until the transaction ends. */
export async function lockPending(tx: pg.ClientBase): Promise<void> {
  await tx.query(
    `SELECT FROM service.withdrawals WHERE state = 'pending' ORDER BY created_at, id FOR UPDATE`,
  );
}

/** Withdrawals of all accounts without a signed transaction, the oldest first. */
export async function pendingOfAll(client: pg.Pool | pg.ClientBase): Promise<Withdrawal[]> {
  const { rows } = await client.query<Row>(
    `SELECT ${columns} FROM service.withdrawals AS w WHERE w.state = 'pending' ORDER BY w.created_at, w.id`,
  );
  return rows.map(withdrawalOf);
}

/** Withdrawals of a batch, the oldest first. The batch's transaction uses the same sequence. */
export async function withdrawalsOf(client: pg.Pool | pg.ClientBase, payout: string): Promise<Withdrawal[]> {
  const { rows } = await client.query<Row>(
    `SELECT ${columns} FROM service.withdrawals AS w WHERE w.payout = $1 ORDER BY w.created_at, w.id`,
    [payout],
  );
  return rows.map(withdrawalOf);
}

/** Reads the withdrawals of a batch, and locks them until the transaction ends. */
export async function lockWithdrawalsOf(tx: pg.ClientBase, payout: string): Promise<Withdrawal[]> {
  const { rows } = await tx.query<Row>(
    `SELECT ${columns} FROM service.withdrawals AS w WHERE w.payout = $1 ORDER BY w.created_at, w.id FOR UPDATE`,
    [payout],
  );
  return rows.map(withdrawalOf);
}

/** Reads pending withdrawals without a batch, the oldest first, and locks them until the transaction ends. */
export async function lockUnbatched(tx: pg.ClientBase, limit: number): Promise<Withdrawal[]> {
  const { rows } = await tx.query<Row>(
    `SELECT ${columns} FROM service.withdrawals AS w WHERE w.state = 'pending' AND w.payout IS NULL
      ORDER BY w.created_at, w.id LIMIT $1 FOR UPDATE`,
    [limit],
  );
  return rows.map(withdrawalOf);
}

/** Whether any withdrawal waits for a batch. */
export async function hasUnbatched(client: pg.ClientBase): Promise<boolean> {
  const { rowCount } = await client.query(
    `SELECT FROM service.withdrawals WHERE state = 'pending' AND payout IS NULL LIMIT 1`,
  );
  return rowCount !== 0;
}

/** Whether any withdrawal waits for its transaction. */
export async function isWithdrawalWaiting(client: pg.ClientBase): Promise<boolean> {
  const { rowCount } = await client.query(`SELECT FROM service.withdrawals WHERE state = 'pending' LIMIT 1`);
  return rowCount !== 0;
}

/** Number of withdrawals that wait for their transaction. */
export async function countPending(client: pg.ClientBase): Promise<number> {
  const { rows } = await client.query<{ pending: number }>(
    `SELECT count(*) AS pending FROM service.withdrawals WHERE state = 'pending'`,
  );
  return rows[0]?.pending ?? 0;
}

/**
 * Puts pending withdrawals into a batch. If `payout` is null, takes them out of their batch. Returns the number of
 * withdrawals that were pending.
 */
export async function putBatch(
  tx: pg.ClientBase,
  ids: readonly string[],
  payout: string | null,
  isAlone = false,
): Promise<number> {
  const { rowCount } = await tx.query(
    `UPDATE service.withdrawals SET payout = $2, is_alone = is_alone OR $3 WHERE id = ANY($1::uuid[]) AND state = 'pending'`,
    [ids, payout, isAlone],
  );
  return rowCount ?? 0;
}

/**
 * Takes withdrawals out of a batch that can no longer be mined, or that has no signed transaction. The caller must
 * check this, and must have locked the batch's row. The withdrawals are pending again. Returns those that were not
 * pending before.
 */
export async function leaveBatch(
  tx: pg.ClientBase,
  payout: string,
  ids: readonly string[],
  isAlone: boolean,
): Promise<Withdrawal[]> {
  const { rows } = await tx.query<Row & { was: WithdrawalState }>(
    `WITH before AS (
       SELECT id, state FROM service.withdrawals
        WHERE payout = $1 AND id = ANY($2::uuid[]) AND state IN ('pending', 'processing') ORDER BY id FOR UPDATE)
     UPDATE service.withdrawals AS w
        SET payout = NULL, is_alone = w.is_alone OR $3, state = 'pending', reason = NULL, txid = NULL, paid_rate = NULL,
            tries = 0, processing_at = NULL
       FROM before WHERE w.id = before.id
     RETURNING ${columns}, before.state AS was`,
    [payout, ids, isAlone],
  );
  return rows.flatMap(({ was, ...row }) => (was === 'pending' ? [] : [withdrawalOf(row)]));
}

/** Withdrawals with these ids, the oldest first. */
export async function withdrawalsWith(tx: pg.ClientBase, ids: readonly string[]): Promise<Withdrawal[]> {
  const { rows } = await tx.query<Row>(
    `SELECT ${columns} FROM service.withdrawals AS w WHERE w.id = ANY($1::uuid[]) ORDER BY w.created_at, w.id`,
    [ids],
  );
  return rows.map(withdrawalOf);
}

/** Stores the reason why withdrawals of a batch wait, in words for people. If `reason` is null, nothing delays them. */
export async function putReason(tx: pg.ClientBase, payout: string, reason: string | null): Promise<void> {
  await tx.query(
    'UPDATE service.withdrawals SET reason = $2 WHERE payout = $1 AND reason IS DISTINCT FROM $2',
    [payout, reason?.slice(0, reasonMax) ?? null],
  );
}

/** Maximum number of characters of a reason. The database has the same bound. */
const reasonMax = 1000;

/** The transaction of a batch that is mined or can still be mined, with its fee rate and the number of tries. */
export interface BatchStanding {
  readonly txid: Txid;
  readonly paidRate: bigint;
  readonly tries: number;
}

/**
 * Sets the state of a batch's withdrawals, and updates the reserved units of balances. Completed withdrawals reserve
 * nothing, because they are in the ledger. Returns the withdrawals whose accounts can see a change.
 *
 * @param standing the batch's transaction, or null if the batch has no signed transaction
 */
export async function putBatchState(
  tx: pg.ClientBase,
  payout: string,
  state: Exclude<WithdrawalState, 'error'>,
  standing: BatchStanding | null,
): Promise<Withdrawal[]> {
  const { rows } = await tx.query<Row>(
    `WITH before AS (
       SELECT id, state FROM service.withdrawals
        WHERE payout = $1 AND (state, txid, tries) IS DISTINCT FROM ($2, $3::bytea, $5::integer) FOR UPDATE
     ), changed AS (
       UPDATE service.withdrawals AS w
          SET state = $2, txid = $3, paid_rate = $4, tries = $5,
              processing_at = CASE WHEN $2 <> 'pending' THEN coalesce(w.processing_at, now()) END
         FROM before WHERE w.id = before.id
       RETURNING ${columns}, w.reserved_units, w.reserved_sats, before.state AS was
     ), moved AS (${movedReserved('changed')})
     SELECT * FROM changed WHERE (SELECT count(*) FROM moved) >= 0 ORDER BY created_at, id`,
    [
      payout,
      state,
      standing === null ? null : Buffer.from(standing.txid),
      standing?.paidRate ?? null,
      standing?.tries ?? 0,
    ],
  );
  return rows.map(withdrawalOf);
}

/**
 * Stores an account's request to cancel a withdrawal. The process that signs carries out the request. Returns false if
 * the account has no unsigned withdrawal with this id.
 */
export async function askToCancelWithdrawal(
  client: pg.Pool | pg.ClientBase,
  account: string,
  id: string,
): Promise<boolean> {
  const { rowCount } = await client.query(
    `UPDATE service.withdrawals SET cancel_asked_at = coalesce(cancel_asked_at, now())
      WHERE id = $1 AND account = $2 AND state = 'pending' AND txid IS NULL`,
    [id, account],
  );
  return rowCount === 1;
}

/** Withdrawals for which the account requested a cancellation, the oldest request first. */
export async function cancelWishes(client: pg.ClientBase, limit: number): Promise<Withdrawal[]> {
  const { rows } = await client.query<Row>(
    `SELECT ${columns} FROM service.withdrawals AS w
      WHERE w.state = 'pending' AND w.cancel_asked_at IS NOT NULL ORDER BY w.cancel_asked_at LIMIT $1`,
    [limit],
  );
  return rows.map(withdrawalOf);
}

/**
 * Ends a withdrawal that can never be mined, so that its reserved units become free. Returns null if the withdrawal is
 * no longer pending.
 */
export async function endWithdrawal(
  tx: pg.ClientBase,
  id: string,
  reason: string,
): Promise<Withdrawal | null> {
  const { rows } = await tx.query<Row>(
    `WITH changed AS (
       UPDATE service.withdrawals AS w SET state = 'error', reason = $2, payout = NULL
        WHERE w.id = $1 AND w.state = 'pending' AND w.txid IS NULL
       RETURNING ${columns}, w.reserved_units, w.reserved_sats, 'pending' AS was
     ), moved AS (${movedReserved('changed')})
     SELECT * FROM changed WHERE (SELECT count(*) FROM moved) >= 0`,
    [id, reason.slice(0, reasonMax)],
  );
  return rows[0] === undefined ? null : withdrawalOf(rows[0]);
}

/**
 * SQL: updates the reserved units of balances after withdrawals started or stopped reserving units. Locks the rows in
 * the same sequence as ledger postings. So two such statements with the same accounts wait for each other, and do not
 * deadlock.
 */
function movedReserved(changed: string): string {
  const isOpen = (state: string): string => `(${state} IN ('pending', 'processing'))::integer`;
  return `WITH m AS (
           SELECT w.account, side.asset, sum(side.units * (${isOpen('w.state')} - ${isOpen('w.was')})) AS units
             FROM ${changed} AS w
             CROSS JOIN LATERAL (VALUES (w.asset, w.reserved_units), (0, w.reserved_sats::numeric)) AS side (asset, units)
            GROUP BY w.account, side.asset HAVING sum(side.units * (${isOpen('w.state')} - ${isOpen('w.was')})) <> 0
         ), taken AS MATERIALIZED (
           SELECT l.account, l.asset, m.units FROM service.token_balances AS l JOIN m USING (account, asset)
            ORDER BY l.account, l.asset FOR UPDATE OF l)
         UPDATE service.token_balances AS b SET reserved = b.reserved + t.units
           FROM taken AS t WHERE b.account = t.account AND b.asset = t.asset RETURNING 1`;
}

/** An operator's filter for withdrawals. */
export interface ListedFilter {
  readonly account: string | null;
  readonly state: WithdrawalState | null;
  readonly limit: number;
}

/** Withdrawals, the newest first. */
export async function listWithdrawals(
  client: pg.Pool | pg.ClientBase,
  { account, state, limit }: ListedFilter,
): Promise<Withdrawal[]> {
  const { rows } = await client.query<Row>(
    `SELECT ${columns} FROM service.withdrawals AS w
      WHERE ($1::text IS NULL OR w.account = $1) AND ($2::text IS NULL OR w.state = $2)
      ORDER BY w.created_at DESC, w.id LIMIT $3`,
    [account, state, limit],
  );
  return rows.map(withdrawalOf);
}
