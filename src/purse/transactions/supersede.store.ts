import assert from 'node:assert/strict';
import type pg from 'pg';
import { type Txid, trustedTxid } from '#kernel/primitives/hash.ts';
import { minedHeight } from '#payments/payments.queries.ts';
import { beginSpends, endSpends, familyOf, hasInput, isMined, isOfFamily, rivalsOf } from './spends.store.ts';
import type { StoredPlan } from './stored-plan.ts';

/** A stored transaction with its inputs. */
export interface SpendingTransaction {
  readonly txid: Txid;
  readonly family: Txid;
  readonly plan: Pick<StoredPlan, 'inputs'>;
}

/**
 * Supersedes transactions: their broadcast stops, and their inputs become free. This happens because the payments that
 * they spend are gone, or because another transaction will spend these payments. Bumps that pay for or spend these
 * transactions are also superseded. Returns the result of `settleBumps`.
 */
export async function supersede(tx: pg.ClientBase, txids: readonly Txid[]): Promise<readonly string[]> {
  if (txids.length === 0) return [];
  await end(tx, txids);
  return settleBumps(tx);
}

async function end(tx: pg.ClientBase, txids: readonly Txid[]): Promise<void> {
  const { rows } = await tx.query<{ family: Buffer }>(
    `UPDATE service.wallet_transactions AS t SET superseded_at = now()
      WHERE txid = ANY($1) AND superseded_at IS NULL RETURNING ${familyOf('t')} AS family`,
    [txids.map((txid) => Buffer.from(txid))],
  );
  await endSpends(
    tx,
    rows.map(({ family }) => trustedTxid(family)),
  );
}

/**
 * Reactivates superseded transactions. Mined ones are final, so other transactions that spend the same outputs are
 * superseded, even if they belong to other subjects. The `others` stay superseded if another transaction has taken
 * their inputs. Returns the orders whose transactions were superseded.
 */
export async function takeUp(
  tx: pg.ClientBase,
  mined: readonly SpendingTransaction[],
  others: readonly SpendingTransaction[],
): Promise<readonly string[]> {
  const familiesOf = (made: readonly SpendingTransaction[]): Txid[] => made.map(({ family }) => family);
  const rivals = await rivalsOf(
    tx,
    familiesOf(mined),
    mined.map(({ plan }) => plan),
  );
  await end(
    tx,
    rivals.map(({ txid }) => txid),
  );
  for (const made of mined) await begin(tx, made);
  for (const made of others) {
    const taken = await rivalsOf(tx, [made.family], [made.plan]);
    if (taken.length === 0) await begin(tx, made);
  }
  return rivals.flatMap(({ orderId }) => (orderId === null ? [] : [orderId]));
}

async function begin(tx: pg.ClientBase, { txid, family, plan }: SpendingTransaction): Promise<void> {
  await tx.query('UPDATE service.wallet_transactions SET superseded_at = NULL WHERE txid = $1', [
    Buffer.from(txid),
  ]);
  await beginSpends(tx, family, plan);
}

/** A bump that blocks, orders or other plans may still change, with the facts that determine its state. */
export interface OpenBump extends SpendingTransaction {
  readonly isSuperseded: boolean;
  readonly isMined: boolean;
  /** Whether a transaction that the bump pays for or spends is superseded. */
  readonly isOrphan: boolean;
  /** Whether an active transaction of another family spends one of the bump's inputs. */
  readonly isTaken: boolean;
}

/** Bumps to supersede, and the next bump to reactivate. `next` is null if no bump must be reactivated. */
export interface SettledBumps {
  readonly ended: readonly OpenBump[];
  readonly next: OpenBump | null;
}

/**
 * Finds the bumps that can never be mined or are no longer wanted. This is the only rule that ends bumps. A bump ends
 * if its family has a mined transaction, if it pays for or spends a superseded transaction, or if another plan has
 * taken its inputs. A mined bump never ends. Pure.
 *
 * @param bumps bumps, the newest first, because a later bump keeps the inputs that it took
 */
export function settledBumps(bumps: readonly OpenBump[]): SettledBumps {
  const minedOf = new Set(bumps.filter((bump) => bump.isMined).map(({ family }) => idOf(family)));
  const isDead = ({ family, ...bump }: OpenBump): boolean =>
    !bump.isMined && (bump.isOrphan || bump.isTaken || minedOf.has(idOf(family)));
  const back = bumps.filter((bump) => bump.isSuperseded && !isDead(bump));
  return {
    ended: bumps.filter((bump) => !bump.isSuperseded && isDead(bump)),
    next: back.find((bump) => bump.isMined) ?? back[0] ?? null,
  };
}

const idOf = (txid: Txid): string => Buffer.from(txid).toString('hex');

/**
 * Maximum number of changes. No reorganisation reaches it, because each bump is reactivated at most once for each
 * bump that is ended.
 */
const changesMax = 10_000;

/**
 * Supersedes bumps that can never be mined or are no longer wanted, and reactivates bumps that can be mined again.
 * Called after blocks or stored transactions have changed. Returns the orders whose transactions were superseded
 * because of a mined bump.
 */
export async function settleBumps(tx: pg.ClientBase): Promise<readonly string[]> {
  const gaveWay = new Set<string>();
  for (let changes = 0; ; changes++) {
    assert(changes < changesMax, 'bumps come to rest');
    const { ended, next } = settledBumps(await readOpenBumps(tx));
    if (ended.length > 0) {
      await end(
        tx,
        ended.map(({ txid }) => txid),
      );
    } else if (next !== null) {
      const orders = next.isMined ? await takeUp(tx, [next], []) : await takeUp(tx, [], [next]);
      for (const id of orders) gaveWay.add(id);
    } else return [...gaveWay];
  }
}

/**
 * How long a bump that was given up can be reactivated without a block, in days. It is longer than any reorganisation
 * that is handled. An older bump is reactivated only if a block has it. If all old bumps were examined, each change of
 * payments would be slower.
 */
const comesBackDays = 7;

async function readOpenBumps(tx: pg.ClientBase): Promise<OpenBump[]> {
  const { rows } = await tx.query<{
    txid: Buffer;
    family: Buffer;
    plan: StoredPlan;
    is_superseded: boolean;
    is_mined: boolean;
    is_orphan: boolean;
    is_taken: boolean;
  }>(
    `SELECT b.txid, ${familyOf('b')} AS family, b.plan, b.superseded_at IS NOT NULL AS is_superseded,
            ${isMined('b')} AS is_mined,
            (SELECT count(t.superseded_at) > 0
               FROM service.bump_parents AS r JOIN service.wallet_transactions AS t ON t.txid = r.parent
              WHERE r.bump = b.txid)
              OR EXISTS (SELECT FROM service.wallet_spends AS s JOIN service.wallet_transactions AS t ON t.txid = s.txid
                          WHERE s.family = ${familyOf('b')} AND t.superseded_at IS NOT NULL AND ${hasInput('b', 's')}) AS is_orphan,
            EXISTS (SELECT FROM service.wallet_spends AS s JOIN service.wallet_spends AS other USING (txid, vout)
                     WHERE s.family = ${familyOf('b')} AND other.family <> s.family AND other.ended_at IS NULL
                       AND ${hasInput('b', 's')}) AS is_taken
       FROM service.wallet_transactions AS b
      WHERE b.kind = 'bump' AND b.height IS NULL
        AND (b.superseded_at IS NULL OR b.superseded_at > now() - $1 * interval '1 day'
             OR ${minedHeight('b.txid')} IS NOT NULL)
        AND NOT (b.superseded_at IS NOT NULL AND EXISTS (
          SELECT FROM service.wallet_transactions AS deep
           WHERE ${isOfFamily('deep', familyOf('b'))} AND deep.height IS NOT NULL))
      ORDER BY b.made_at DESC, b.txid`,
    [comesBackDays],
  );
  return rows.map(({ txid, family, plan, ...row }) => ({
    txid: trustedTxid(txid),
    family: trustedTxid(family),
    plan,
    isSuperseded: row.is_superseded,
    isMined: row.is_mined,
    isOrphan: row.is_orphan,
    isTaken: row.is_taken,
  }));
}
