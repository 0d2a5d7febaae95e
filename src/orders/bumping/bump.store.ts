import type pg from 'pg';
import { hasRevealed, joinMoved } from '#chain/inscriptions/reveal.queries.ts';
import { type Txid, trustedTxid } from '#kernel/primitives/hash.ts';
import { isHeldCommit, isHeldReveal } from '#orders/etching/etchings.store.ts';
import { isOfPackage } from '#orders/mining/packages.store.ts';
import { isOfMints } from '#orders/minting/ordered-mints.store.ts';
import { deliveringStates } from '#orders/order/order-machine.ts';
import { earnedBy, type StoredQuote } from '#orders/order/order-request.ts';
import type { OrderTransactionKind } from '#orders/order/order-transactions.store.ts';
import { runeOutputs } from '#orders/order/stored-terms.ts';
import { hasMinedOutput } from '#payments/payments.queries.ts';
import { outpointOf } from '#purse/transactions/outpoint.ts';
import { familyOf, isMined } from '#purse/transactions/spends.store.ts';
import { type StoredPlan, virtualBytesOf } from '#purse/transactions/stored-plan.ts';
import { insertTransaction } from '#purse/transactions/wallet-transactions.store.ts';
import type { FamilyCost, SpentOnFamily } from './budgets.ts';

/** An input of a bump, with all data that a replacement of the bump needs. */
export interface StoredBumpInput {
  readonly outpoint: string;
  readonly value: number;
  /** In hex. */
  readonly script: string;
  /** Index of the input's key in branch 1. Null if the input is an anchor. */
  readonly keyIndex: number | null;
}

export interface StoredBumpPlan extends StoredPlan {
  readonly inputs: readonly StoredBumpInput[];
  /** Sats of the change that belong to a customer. Absent if no sats belong to a customer. */
  readonly owed?: number;
}

/** A bump that may still be mined. */
export interface LiveBump {
  readonly txid: Txid;
  readonly family: Txid;
  readonly plan: StoredBumpPlan;
  readonly fee: number;
  readonly virtualBytes: number;
  readonly ownIndex: number;
  readonly madeAt: Date;
  readonly sentAt: Date | null;
  readonly refusal: string | null;
  readonly parents: readonly Txid[];
}

interface LiveRow {
  readonly txid: Buffer;
  readonly family: Buffer;
  readonly plan: StoredBumpPlan;
  readonly fee: number;
  readonly bytes: number;
  readonly own_index: number;
  readonly made_at: Date;
  readonly sent_at: Date | null;
  readonly refusal: string | null;
  readonly parents: string[];
}

/** The newest bump of each family without a mined bump. The bumps are sorted by age, oldest first. */
export async function liveBumps(client: pg.ClientBase): Promise<LiveBump[]> {
  const { rows } = await client.query<LiveRow>(
    `SELECT DISTINCT ON (${familyOf('b')}) b.txid, ${familyOf('b')} AS family, b.plan, b.fee,
            octet_length(b.bytes) AS bytes, b.own_index, b.made_at, b.sent_at, b.refusal,
            array(SELECT encode(r.parent, 'hex') FROM service.bump_parents AS r WHERE r.bump = b.txid) AS parents
       FROM service.wallet_transactions AS b
      WHERE b.kind = 'bump' AND b.superseded_at IS NULL AND NOT ${isMined('b')}
      ORDER BY ${familyOf('b')}, b.made_at DESC`,
  );
  return rows
    .map(({ txid, family, bytes, own_index, made_at, sent_at, parents, ...row }) => ({
      ...row,
      txid: trustedTxid(txid),
      family: trustedTxid(family),
      virtualBytes: virtualBytesOf(row.plan, bytes),
      ownIndex: own_index,
      madeAt: made_at,
      sentAt: sent_at,
      parents: parents.map((parent) => trustedTxid(Buffer.from(parent, 'hex'))),
    }))
    .toSorted((a, b) => a.madeAt.getTime() - b.madeAt.getTime());
}

/** A transaction of an order that should have been mined long ago, with the facts that decide whether it is bumped. */
export interface OverdueTransaction {
  readonly txid: Txid;
  readonly orderId: string;
  readonly kind: OrderTransactionKind;
  readonly plan: StoredPlan;
  readonly fee: number;
  readonly virtualBytes: number;
  readonly ownIndex: number;
  readonly amount: bigint;
  /** Fee rate that the customer chose, in sats per 1,000 virtual bytes. */
  readonly feeRate: bigint;
  /**
   * Estimated fee rate at the time when the order was paid, in sats per 1,000 virtual bytes. Null if there was no
   * estimate.
   */
  readonly paidEstimate: bigint | null;
  /** Sats that the service earns from the order. */
  readonly earned: bigint;
  /** Whether a burn spends our output of this transaction. */
  readonly isBurned: boolean;
  /** Plan of the reveal that a burn spends. Null if the transaction is not a burn. */
  readonly revealed: StoredPlan | null;
}

/**
 * SQL: plan of the transaction that spends a payment. The plan shows whether too much was paid. For a burn, this is the
 * plan of its reveal.
 */
export const paidPlan = `CASE WHEN t.kind <> 'burn' THEN t.plan ELSE (
    SELECT r.plan FROM service.wallet_transactions AS r
     WHERE r.order_id = t.order_id AND r.kind = 'reveal' AND r.index = t.index AND r.superseded_at IS NULL) END`;

/** SQL: true for a reveal whose burn is stored. The burn spends our output of the reveal. */
export const isBurned = `(t.kind = 'reveal' AND EXISTS (
    SELECT FROM service.wallet_transactions AS b
     WHERE b.order_id = t.order_id AND b.kind = 'burn' AND b.index = t.index AND b.superseded_at IS NULL))`;

/**
 * Maximum number of overdue transactions in one round, because the node is asked about each transaction. Younger
 * transactions follow once some older transactions are mined.
 */
const overdueMax = 1000;

/**
 * Unmined transactions of active orders. They were sent before a time, or they were made before that time and never
 * sent. Sorted by age, oldest first.
 */
export async function overdueTransactions(
  client: pg.ClientBase,
  before: Date,
): Promise<OverdueTransaction[]> {
  const { rows } = await client.query<{
    txid: Buffer;
    order_id: string;
    kind: OrderTransactionKind;
    plan: StoredPlan;
    bytes: number;
    fee: number;
    own_index: number;
    amount: number;
    fee_rate: string;
    paid_estimate: number | null;
    quote: StoredQuote;
    postages: number;
    is_burned: boolean;
    revealed: StoredPlan | null;
  }>(
    `SELECT t.txid, t.order_id, t.kind, t.plan, octet_length(t.bytes) AS bytes, t.fee, o.own_index, o.amount,
            o.terms->>'feeRate' AS fee_rate, o.paid_estimate, o.quote, (o.request->>'count')::integer + ${runeOutputs('o.terms')} AS postages,
            ${isBurned} AS is_burned,
            CASE WHEN t.kind = 'burn' THEN ${paidPlan} END AS revealed
       FROM service.orders AS o JOIN service.wallet_transactions AS t ON t.order_id = o.id
      WHERE o.state = ANY($3) AND t.superseded_at IS NULL AND t.kind NOT IN ('return', 'refund')
        AND coalesce(t.sent_at, t.made_at) <= $1
        AND NOT ${isOfPackage('t')}
        AND NOT ${isHeldReveal('t')}
        AND NOT ${isHeldCommit('t')}
        AND NOT ${isOfMints('t')}
        AND NOT ${hasRevealed('t.txid')}
        AND NOT ${hasMinedOutput('t.txid')}
        AND NOT (t.kind = 'commit' AND EXISTS (
          SELECT FROM service.wallet_transactions AS r
           WHERE r.order_id = o.id AND r.superseded_at IS NULL AND ${hasRevealed('r.txid')}))
        AND NOT (t.kind = 'burn' AND EXISTS (
          SELECT FROM service.wallet_transactions AS r ${joinMoved('t.txid', 'r.txid')}
           WHERE r.order_id = o.id AND r.kind = 'reveal' AND r.index = t.index))
      ORDER BY t.made_at, t.kind, t.index LIMIT $2`,
    [before, overdueMax, deliveringStates],
  );
  return rows.map(({ txid, order_id, bytes, own_index, fee_rate, is_burned, ...read }) => {
    const { paid_estimate: estimate, quote, postages, ...row } = read;
    return {
      ...row,
      paidEstimate: estimate === null ? null : BigInt(estimate),
      earned: earnedBy(quote, postages),
      isBurned: is_burned,
      txid: trustedTxid(txid),
      orderId: order_id,
      virtualBytes: virtualBytesOf(row.plan, bytes),
      amount: BigInt(row.amount),
      ownIndex: own_index,
      feeRate: BigInt(fee_rate),
    };
  });
}

/**
 * Sats that orders have spent on bumps, by order and family. Only the largest share of each family is counted, because
 * only one bump of a family is mined.
 */
export async function spentOnBumps(
  client: pg.ClientBase,
  orderIds: readonly string[],
): Promise<SpentOnFamily[]> {
  const { rows } = await client.query<{ order_id: string; family: Buffer; fee: number }>(
    `SELECT s.order_id, ${familyOf('b')} AS family, max(s.fee) AS fee
       FROM service.bump_shares AS s JOIN service.wallet_transactions AS b ON b.txid = s.bump
      WHERE s.order_id = ANY($1::uuid[]) AND b.superseded_at IS NULL
      GROUP BY 1, 2`,
    [orderIds],
  );
  return rows.map(({ order_id: orderId, family, fee }) => ({
    orderId,
    family: trustedTxid(family),
    fee: BigInt(fee),
  }));
}

/** Costs of bumps since a time, by family. Bumps that can never be mined are left out. */
export async function familyCosts(
  client: pg.Pool | pg.ClientBase,
  since: Date,
  today: Date,
): Promise<FamilyCost[]> {
  const { rows } = await client.query<{ family: Buffer; fee: number; is_of_today: boolean }>(
    `SELECT ${familyOf('b')} AS family, max(b.fee) AS fee, max(b.made_at) > $2 AS is_of_today
       FROM service.wallet_transactions AS b
      WHERE b.kind = 'bump' AND b.made_at > $1 AND b.superseded_at IS NULL GROUP BY 1`,
    [since, today],
  );
  return rows.map(({ family, fee, is_of_today: isOfToday }) => ({
    family: trustedTxid(family),
    fee: BigInt(fee),
    isOfToday,
  }));
}

export interface NewBump {
  readonly txid: Txid;
  /** The first bump of the family, if this bump replaces another bump. Null if this is the first bump of its family. */
  readonly replaces: Txid | null;
  readonly bytes: Uint8Array;
  readonly plan: StoredBumpPlan;
  readonly fee: bigint;
  readonly ownIndex: number;
  readonly parents: readonly Txid[];
  readonly shares: ReadonlyMap<string, bigint>;
}

/** Stores a signed bump before it is sent. Returns false if the same bump is stored already. Throws `OutputTaken`. */
export async function insertBump(tx: pg.ClientBase, { parents, shares, ...bump }: NewBump): Promise<boolean> {
  const of = { kind: 'bump', orderId: null, payoutId: null, index: 0, files: 0 } as const;
  if (!(await insertTransaction(tx, { ...bump, ...of }))) return false;
  const id = Buffer.from(bump.txid);
  await tx.query('INSERT INTO service.bump_parents (bump, parent) SELECT $1, unnest($2::bytea[])', [
    id,
    parents.map((parent) => Buffer.from(parent)),
  ]);
  await tx.query(
    `INSERT INTO service.bump_shares (bump, order_id, fee)
     SELECT $1, s.order_id, s.fee FROM unnest($2::uuid[], $3::bigint[]) AS s (order_id, fee)`,
    [id, [...shares.keys()], [...shares.values()]],
  );
  return true;
}

/** A bump whose fee an order shares. */
export interface OrderBump {
  readonly txid: Txid;
  /** Txid that identifies the family. All bumps that replace each other have the same value. */
  readonly family: Txid;
  readonly plan: StoredBumpPlan;
  readonly fee: number;
  /** Sats of the fee that the order pays. */
  readonly share: number;
  readonly madeAt: Date;
  readonly sentAt: Date | null;
  readonly refusal: string | null;
  readonly isMined: boolean;
  /** Whether the bump is superseded, because it can probably never be mined, or because it is no longer wanted. */
  readonly isDead: boolean;
}

/** The bumps of an order, oldest first. */
export async function readBumps(client: pg.Pool | pg.ClientBase, orderId: string): Promise<OrderBump[]> {
  const { rows } = await client.query<{
    txid: Buffer;
    family: Buffer;
    plan: StoredBumpPlan;
    fee: number;
    share: number;
    made_at: Date;
    sent_at: Date | null;
    refusal: string | null;
    is_mined: boolean;
    is_dead: boolean;
  }>(
    `SELECT b.txid, ${familyOf('b')} AS family, b.plan, b.fee, s.fee AS share, b.made_at, b.sent_at, b.refusal,
            ${isMined('b')} AS is_mined, b.superseded_at IS NOT NULL AS is_dead
       FROM service.bump_shares AS s JOIN service.wallet_transactions AS b ON b.txid = s.bump
      WHERE s.order_id = $1 ORDER BY b.made_at`,
    [orderId],
  );
  return rows.map(({ txid, family, made_at, sent_at, is_mined, is_dead, ...row }) => ({
    ...row,
    txid: trustedTxid(txid),
    family: trustedTxid(family),
    madeAt: made_at,
    sentAt: sent_at,
    isMined: is_mined,
    isDead: is_dead,
  }));
}

/**
 * Our outputs of an order's transactions that are spent by bumps, or by transactions of other orders. Format:
 * `<txid>:<vout>`.
 */
export async function spentByOthers(client: pg.ClientBase, orderId: string): Promise<string[]> {
  const { rows } = await client.query<{ txid: Buffer; vout: number }>(
    `SELECT s.txid, s.vout FROM service.wallet_transactions AS t
       JOIN service.wallet_spends AS s ON s.txid = t.txid AND s.ended_at IS NULL
       JOIN service.wallet_transactions AS spending ON spending.txid = s.family
      WHERE t.order_id = $1 AND spending.order_id IS DISTINCT FROM $1`,
    [orderId],
  );
  return rows.map(({ txid, vout }) => outpointOf({ txid: trustedTxid(txid), vout }));
}

/** Orders that share the fees of these bumps. */
export async function ordersOfBumps(client: pg.ClientBase, txids: readonly Uint8Array[]): Promise<string[]> {
  const { rows } = await client.query<{ order_id: string }>(
    'SELECT DISTINCT order_id FROM service.bump_shares WHERE bump = ANY($1)',
    [txids.map((txid) => Buffer.from(txid))],
  );
  return rows.map(({ order_id: orderId }) => orderId);
}

/** Stores why stuck transactions of orders are not bumped, and clears the reasons of all other orders. */
export async function noteStuck(client: pg.ClientBase, reasons: ReadonlyMap<string, string>): Promise<void> {
  await client.query(
    `UPDATE service.orders AS o SET stuck = n.reason
       FROM (SELECT id, reason FROM unnest($1::uuid[], $2::text[]) AS n (id, reason)
             UNION ALL SELECT id, NULL FROM service.orders WHERE stuck IS NOT NULL AND id <> ALL($1::uuid[])) AS n
      WHERE o.id = n.id AND o.stuck IS DISTINCT FROM n.reason`,
    [[...reasons.keys()], [...reasons.values()]],
  );
}
