import type pg from 'pg';
import { indexTipHeight } from '#chain/blocks/index-tip.queries.ts';
import { isEtched } from '#chain/runes/etched-by.queries.ts';
import { type Txid, trustedTxid } from '#kernel/primitives/hash.ts';
import type { Height } from '#kernel/primitives/height.ts';
import { asRune, type Rune } from '#kernel/runes/rune.ts';
import { minedHeight } from '#payments/payments.queries.ts';
import { paymentsTipHeight } from '#payments/store/offset.store.ts';
import { isLive } from '#purse/transactions/spends.store.ts';
import { releasedAboveCommit } from './released-at.ts';

/**
 * SQL: whether a transaction is a reveal that waits until its commit is deep enough. `transaction` is the transaction's
 * name in the statement.
 */
export const isHeldReveal = (transaction: string): string =>
  `EXISTS (SELECT FROM service.etchings AS held WHERE held.reveal = ${transaction}.txid AND held.released_at IS NULL)`;

/**
 * SQL: whether a transaction is the commit of a reveal that waits (`isHeldReveal`). No bump pays for such a commit.
 * Otherwise a customer could take the name with another transaction, and make the service lose the cost of bumps.
 */
export const isHeldCommit = (transaction: string): string =>
  `EXISTS (SELECT FROM service.etchings AS held WHERE held.commit_txid = ${transaction}.txid AND held.released_at IS NULL)`;

/** A stored reveal that etches a name, with its stored commit. */
export interface StoredEtching {
  readonly reveal: Txid;
  readonly isReleased: boolean;
  /** The reason why the reveal was given up, and why the name cannot be etched. Null if the reveal was not given up. */
  readonly fault: string | null;
  /** Height of the commit's block. Null if the payments know no block with the commit. */
  readonly commitHeight: Height | null;
  /** Height of the reveal's block. Null if the payments know no block with the reveal. */
  readonly revealHeight: Height | null;
}

/**
 * Stores a reveal that waits for its commit. The same commit and reveal may be made again after their payment was gone
 * for a while. The commit then gets into another block, so the stored progress is reset.
 */
export async function insertEtching(
  tx: pg.ClientBase,
  made: { readonly orderId: string; readonly commit: Txid; readonly reveal: Txid; readonly rune: Rune },
): Promise<void> {
  await tx.query(
    `INSERT INTO service.etchings (reveal, commit_txid, order_id, rune) VALUES ($1, $2, $3, $4)
     ON CONFLICT (reveal) DO UPDATE SET made_at = now(), released_at = NULL, given_up_at = NULL, fault = NULL`,
    [Buffer.from(made.reveal), Buffer.from(made.commit), made.orderId, String(made.rune)],
  );
}

/** The etchings of an order, newest first; empty if nothing was signed. */
export async function readEtchings(client: pg.ClientBase, orderId: string): Promise<StoredEtching[]> {
  const { rows } = await client.query<{
    reveal: Buffer;
    is_released: boolean;
    fault: string | null;
    commit_height: Height | null;
    reveal_height: Height | null;
  }>(
    `SELECT reveal, released_at IS NOT NULL AS is_released, fault,
            ${minedHeight('e.commit_txid')} AS commit_height, ${minedHeight('e.reveal')} AS reveal_height
       FROM service.etchings AS e WHERE order_id = $1 ORDER BY made_at DESC, reveal`,
    [orderId],
  );
  return rows.map((row) => ({
    reveal: trustedTxid(row.reveal),
    isReleased: row.is_released,
    fault: row.fault,
    commitHeight: row.commit_height,
    revealHeight: row.reveal_height,
  }));
}

/** Releases these reveals, so that they are sent from now on. */
export async function releaseReveals(tx: pg.ClientBase, reveals: readonly Txid[]): Promise<void> {
  await tx.query(
    'UPDATE service.etchings SET released_at = now() WHERE reveal = ANY($1::bytea[]) AND released_at IS NULL',
    [reveals.map((reveal) => Buffer.from(reveal))],
  );
}

/**
 * Gives up an order's etchings for this reason. If a block contains such a reveal later, the reveal is still
 * recognized.
 */
export async function giveUpEtchings(tx: pg.ClientBase, orderId: string, fault: string): Promise<void> {
  await tx.query(
    'UPDATE service.etchings SET given_up_at = now(), fault = $2 WHERE order_id = $1 AND given_up_at IS NULL',
    [orderId, fault],
  );
}

/** Whether another order of this service is about to etch a name, because its commit and reveal are made. */
export async function isEtchedByAnother(
  client: pg.ClientBase,
  orderId: string | null,
  rune: Rune,
): Promise<boolean> {
  const { rows } = await client.query<{ is_etched: boolean }>(
    `SELECT EXISTS (SELECT FROM service.etchings AS e
                     WHERE e.rune = $1 AND e.order_id IS DISTINCT FROM $2 AND e.released_at IS NULL
                       AND e.given_up_at IS NULL AND ${isLive('e.reveal')}) AS is_etched`,
    [String(rune), orderId],
  );
  return rows[0]?.is_etched === true;
}

/** Whether any order waits until its commit is deep enough. */
export async function isRevealAwaited(pool: pg.Pool): Promise<boolean> {
  const { rows } = await pool.query<{ is_awaited: boolean }>(
    `SELECT EXISTS (SELECT FROM service.orders WHERE state = 'waiting-reveal') AS is_awaited`,
  );
  return rows[0]?.is_awaited === true;
}

/** A waiting reveal that the next block may contain. */
export interface RipeEtching {
  readonly orderId: string;
  readonly reveal: Txid;
  readonly rune: Rune;
}

/** Reveals of waiting orders that the block after `tip` may contain, oldest first. */
export async function ripeEtchings(client: pg.ClientBase, tip: Height): Promise<RipeEtching[]> {
  const { rows } = await client.query<{ order_id: string; reveal: Buffer; rune: string }>(
    `SELECT e.order_id, e.reveal, e.rune::text
       FROM service.etchings AS e JOIN service.orders AS o ON o.id = e.order_id
      WHERE e.released_at IS NULL AND e.given_up_at IS NULL AND o.state = 'waiting-reveal'
        AND ${isLive('e.reveal')} AND ${minedHeight('e.commit_txid')} + ${releasedAboveCommit} <= $1
      ORDER BY e.made_at`,
    [tip],
  );
  return rows.map(({ order_id: orderId, reveal, rune }) => ({
    orderId,
    reveal: trustedTxid(reveal),
    rune: asRune(BigInt(rune)),
  }));
}

/**
 * Orders whose waiting reveal is due, because the next block may contain the reveal, or because a block has etched the
 * name. Also orders that still wait although their reveal was released. Cost: one look-up for each waiting reveal.
 */
export async function dueEtchings(client: pg.ClientBase): Promise<string[]> {
  const { rows } = await client.query<{ order_id: string }>(
    `SELECT order_id FROM service.etchings AS e
      WHERE released_at IS NULL AND given_up_at IS NULL AND ${isLive('e.reveal')}
        AND (${minedHeight('e.commit_txid')} + ${releasedAboveCommit} <= least(${indexTipHeight}, ${paymentsTipHeight})
             OR ${isEtched('e.rune')})
     UNION
     SELECT e.order_id FROM service.orders AS o JOIN service.etchings AS e ON e.order_id = o.id
      WHERE o.state = 'waiting-reveal' AND e.released_at IS NOT NULL AND e.given_up_at IS NULL`,
  );
  return rows.map(({ order_id }) => order_id);
}
