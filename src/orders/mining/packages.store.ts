import type pg from 'pg';
import { hasRevealed } from '#chain/inscriptions/reveal.queries.ts';
import { type Txid, trustedTxid } from '#kernel/primitives/hash.ts';
import { markSent } from '#purse/transactions/wallet-transactions.store.ts';
import type { StoredPackage } from './unmined.ts';

/**
 * SQL: whether a transaction is not sent to the node. This is a reveal for a miner, or its commit until the miner has
 * accepted both. The commit of a package that was given up is sent, because it was in a block before, and the refund
 * spends it. `transaction` is the name of the row in the statement.
 */
export const isKeptFromNode = (transaction: string): string =>
  `EXISTS (SELECT FROM service.miner_packages AS kept
            WHERE kept.reveal = ${transaction}.txid
               OR kept.commit_txid = ${transaction}.txid AND kept.accepted_at IS NULL AND kept.given_up_at IS NULL)`;

/**
 * SQL: whether a transaction is in a package, which the miner mines at its own fees. `transaction` is the name of the
 * row in the statement.
 */
export const isOfPackage = (transaction: string): string =>
  `EXISTS (SELECT FROM service.miner_packages AS package
            WHERE package.reveal = ${transaction}.txid OR package.commit_txid = ${transaction}.txid)`;

/** SQL: whether an order has a reveal for a miner. `orderId` is an SQL expression. */
export const hasPackage = (orderId: string): string =>
  `EXISTS (SELECT FROM service.miner_packages AS package WHERE package.order_id = ${orderId})`;

/** SQL: assignments that reset a package, as if the miner had never received it. */
const begunAgain = `ask_at = now(), tries = 0, silence = NULL, accepted_at = NULL, refused_at = NULL, refusal = NULL,
  given_up_at = NULL, was_mined = false`;

/**
 * Stores a package: a stored reveal with its commit, for a miner. A package may be stored again after its payment was
 * missing for a while. It is then reset, because the miner may have refused a transaction with an unknown input.
 */
export async function insertPackage(
  tx: pg.ClientBase,
  made: { readonly orderId: string; readonly commit: Txid; readonly reveal: Txid; readonly hours: number },
): Promise<void> {
  await tx.query(
    `INSERT INTO service.miner_packages (reveal, commit_txid, order_id, hours, mined_until)
     VALUES ($1, $2, $3, $4::integer, now() + $4::integer * interval '1 hour')
     ON CONFLICT (reveal) DO UPDATE
        SET hours = excluded.hours, mined_until = excluded.mined_until, made_at = now(), ${begunAgain}`,
    [Buffer.from(made.reveal), Buffer.from(made.commit), made.orderId, made.hours],
  );
}

/** The packages of an order. Empty if nodes relay its reveals. */
export async function readPackages(client: pg.ClientBase, orderId: string): Promise<StoredPackage[]> {
  const { rows } = await client.query<{
    reveal: Buffer;
    hours: number;
    mined_until: Date;
    accepted_at: Date | null;
    refusal: string | null;
    given_up_at: Date | null;
    is_mined: boolean;
  }>(
    `SELECT p.reveal, p.hours, p.mined_until, p.accepted_at, p.refusal, p.given_up_at,
            ${hasRevealed('p.reveal')} AS is_mined
       FROM service.miner_packages AS p WHERE p.order_id = $1 ORDER BY p.made_at`,
    [orderId],
  );
  return rows.map((row) => ({
    reveal: trustedTxid(row.reveal),
    hours: row.hours,
    minedUntil: row.mined_until,
    acceptedAt: row.accepted_at,
    refusal: row.refusal,
    givenUpAt: row.given_up_at,
    isMined: row.is_mined,
  }));
}

/**
 * Marks packages as sent if their reveals are in blocks. Reactivates such packages if they were given up, even if the
 * miner refused them. Packages that a reorganisation removed from a block are handed over again, because a node does
 * not keep such a reveal for the next block.
 */
export async function noteMined(tx: pg.ClientBase, orderId: string): Promise<void> {
  const { rows } = await tx.query<{ reveal: Buffer }>(
    `UPDATE service.miner_packages AS p SET given_up_at = NULL, ask_at = NULL, was_mined = true
      WHERE p.order_id = $1 AND NOT p.was_mined AND ${hasRevealed('p.reveal')} RETURNING p.reveal`,
    [orderId],
  );
  for (const { reveal } of rows) await markSent(tx, trustedTxid(reveal), null);
  await tx.query(
    `UPDATE service.miner_packages AS p SET mined_until = now() + p.hours * interval '1 hour', ${begunAgain}
      WHERE p.order_id = $1 AND p.was_mined AND NOT ${hasRevealed('p.reveal')}`,
    [orderId],
  );
}

/** Gives up an order's packages, so the miner is no longer asked. A block that has a package is still accepted. */
export async function giveUpPackages(tx: pg.ClientBase, orderId: string): Promise<void> {
  await tx.query(
    'UPDATE service.miner_packages SET given_up_at = now(), ask_at = NULL WHERE order_id = $1 AND given_up_at IS NULL',
    [orderId],
  );
}

/** A package to hand over now. */
export interface DuePackage {
  readonly orderId: string;
  readonly commit: Txid;
  readonly reveal: Txid;
  readonly tries: number;
  /** Time when the package was stored, for the log. */
  readonly madeAt: Date;
}

/**
 * Packages to hand over now, the longest due first. A package whose payment a reorganisation removed waits for that
 * payment, because a miner would refuse to spend it. If another payment pays for the order meanwhile, the order has a
 * newer package.
 */
export async function duePackages(
  client: pg.Pool,
  underWay: readonly Txid[],
  limit: number,
): Promise<DuePackage[]> {
  const { rows } = await client.query<{
    order_id: string;
    commit_txid: Buffer;
    reveal: Buffer;
    tries: number;
    made_at: Date;
  }>(
    `SELECT p.order_id, p.commit_txid, p.reveal, p.tries, p.made_at
       FROM service.miner_packages AS p JOIN service.orders AS o ON o.id = p.order_id
      WHERE p.ask_at <= now() AND p.reveal <> ALL ($1) AND o.state = 'queued'
        AND NOT EXISTS (SELECT FROM service.miner_packages AS newer
                         WHERE newer.order_id = p.order_id AND newer.made_at > p.made_at)
      ORDER BY p.ask_at, p.reveal LIMIT $2`,
    [underWay.map((txid) => Buffer.from(txid)), limit],
  );
  return rows.map(({ order_id: orderId, commit_txid: commit, reveal, tries, made_at: madeAt }) => ({
    orderId,
    commit: trustedTxid(commit),
    reveal: trustedTxid(reveal),
    tries,
    madeAt,
  }));
}

/**
 * Stores that the miner accepted a package, so its time to be mined starts. Returns false if the package was given up
 * before.
 */
export async function noteAccepted(tx: pg.ClientBase, reveal: Txid): Promise<boolean> {
  const { rowCount } = await tx.query(
    `UPDATE service.miner_packages
        SET accepted_at = now(), ask_at = NULL, tries = tries + 1, silence = NULL, mined_until = now() + hours * interval '1 hour'
      WHERE reveal = $1 AND ask_at IS NOT NULL`,
    [Buffer.from(reveal)],
  );
  return rowCount === 1;
}

/** Stores that the miner refused a package. Returns false if the package was given up before. */
export async function noteRefused(tx: pg.ClientBase, reveal: Txid, reason: string): Promise<boolean> {
  const { rowCount } = await tx.query(
    `UPDATE service.miner_packages SET refused_at = now(), refusal = $2, ask_at = NULL, tries = tries + 1, silence = NULL
      WHERE reveal = $1 AND ask_at IS NOT NULL`,
    [Buffer.from(reveal), reason],
  );
  return rowCount === 1;
}

/** Stores a try without a reply, and delays the next try. */
export async function noteSilence(
  client: pg.Pool,
  reveal: Txid,
  why: string,
  againInMs: number,
): Promise<void> {
  await client.query(
    `UPDATE service.miner_packages
        SET tries = tries + 1, silence = $2, ask_at = now() + $3 * interval '1 millisecond'
      WHERE reveal = $1 AND ask_at IS NOT NULL`,
    [Buffer.from(reveal), why, againInMs],
  );
}

/** Numbers of packages that wait for a reply, and of accepted packages without a block. Ages are in seconds. */
export interface PackageFigures {
  readonly waiting: number;
  readonly accepted: number;
  /** Age of the oldest package that waits for a reply. 0 if no package waits. */
  readonly oldestWaiting: number;
}

/** Figures of packages that are not given up. Reads an index, and the packages of open orders. */
export async function packageFigures(client: pg.Pool): Promise<PackageFigures> {
  const { rows } = await client.query<PackageFigures>(
    `SELECT count(*) FILTER (WHERE p.ask_at IS NOT NULL)::integer AS waiting,
            count(*) FILTER (WHERE p.accepted_at IS NOT NULL AND p.given_up_at IS NULL)::integer AS accepted,
            coalesce(extract(epoch FROM now() - min(p.made_at) FILTER (WHERE p.ask_at IS NOT NULL)), 0)::float8 AS "oldestWaiting"
       FROM service.miner_packages AS p JOIN service.orders AS o ON o.id = p.order_id WHERE o.state = 'queued'`,
  );
  return rows[0] ?? { waiting: 0, accepted: 0, oldestWaiting: 0 };
}
