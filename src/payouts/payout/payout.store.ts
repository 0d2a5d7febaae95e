import assert from 'node:assert/strict';
import type pg from 'pg';
import { type Txid, trustedTxid } from '#kernel/primitives/hash.ts';
import type { Payout, PayoutAccount, PayoutKind, PayoutShare, PayoutState } from './payout.ts';

/** Stores a payout with its shares before a transaction is planned. Returns the payout's id. */
export async function insertPayout(
  tx: pg.ClientBase,
  kind: PayoutKind,
  shares: readonly PayoutShare[],
  { spends, feeRate }: Pick<Payout, 'spends' | 'feeRate'> = { spends: null, feeRate: null },
): Promise<string> {
  assert(shares.length > 0, 'a payout names its shares');
  const { rows } = await tx.query<{ id: string }>(
    'INSERT INTO service.payouts (kind, spends_txid, spends_vout, fee_rate) VALUES ($1, $2, $3, $4) RETURNING id',
    [kind, spends === null ? null : Buffer.from(spends.txid), spends?.vout ?? null, feeRate],
  );
  const id = rows[0]?.id;
  assert(id !== undefined, 'an inserted row has an id');
  await tx.query(
    `INSERT INTO service.payout_shares (payout, account, owner, script, address, sats)
     SELECT $1, s.account, s.owner, s.script, s.address, s.sats
       FROM unnest($2::text[], $3::text[], $4::bytea[], $5::text[], $6::bigint[]) AS s (account, owner, script, address, sats)`,
    [
      id,
      shares.map(({ account }) => account),
      shares.map(({ owner }) => owner),
      shares.map(({ script }) => Buffer.from(script)),
      shares.map(({ address }) => address),
      shares.map(({ sats }) => sats),
    ],
  );
  return id;
}

/** A batch without a signed transaction. It waits for a plan. */
export type EmptyPayout = Pick<Payout, 'id' | 'feeRate'>;

/** Batches of withdrawals without a signed transaction, the oldest first. */
export async function unsignedBatches(tx: pg.ClientBase): Promise<EmptyPayout[]> {
  const { rows } = await tx.query<{ id: string; fee_rate: string | null }>(
    `SELECT p.id, p.fee_rate::text AS fee_rate FROM service.payouts AS p
      WHERE p.kind = 'withdrawal' AND p.state = 'asked'
        AND NOT EXISTS (SELECT FROM service.wallet_transactions AS t WHERE t.payout_id = p.id)
      ORDER BY p.asked_at, p.id FOR UPDATE`,
  );
  return rows.map(({ id, fee_rate: feeRate }) => ({
    id,
    feeRate: feeRate === null ? null : BigInt(feeRate),
  }));
}

/** Stores a batch of withdrawals. A batch has no shares. Returns the batch's id. */
export async function insertBatch(tx: pg.ClientBase, feeRate: bigint | null): Promise<string> {
  const { rows } = await tx.query<{ id: string }>(
    `INSERT INTO service.payouts (kind, fee_rate) VALUES ('withdrawal', $1) RETURNING id`,
    [feeRate],
  );
  const id = rows[0]?.id;
  assert(id !== undefined, 'an inserted row has an id');
  return id;
}

interface Row {
  readonly id: string;
  readonly kind: PayoutKind;
  readonly state: PayoutState;
  readonly own_index: number | null;
  readonly stuck: string | null;
  readonly missing_since: number | null;
  readonly spends_txid: Txid | null;
  readonly spends_vout: number | null;
  readonly fee_rate: string | null;
}

const columns =
  'id, kind, state, own_index, stuck, missing_since, spends_txid, spends_vout, fee_rate::text AS fee_rate';
const payoutOf = ({
  own_index: ownIndex,
  missing_since: missingSince,
  spends_txid: txid,
  spends_vout: vout,
  fee_rate: feeRate,
  ...row
}: Row): Payout => ({
  ...row,
  spends: txid === null || vout === null ? null : { txid: trustedTxid(txid), vout },
  feeRate: feeRate === null ? null : BigInt(feeRate),
  ownIndex,
  missingSince,
});

/** Payouts that a block, a coin or the node may still change, the oldest first. */
export async function openPayouts(client: pg.ClientBase): Promise<Payout[]> {
  const { rows } = await client.query<Row>(
    `SELECT ${columns} FROM service.payouts WHERE state NOT IN ('settled', 'cancelled') ORDER BY asked_at, id`,
  );
  return rows.map(payoutOf);
}

/** Locks all payouts that a block, a coin or the node may still change. */
export async function lockOpenPayouts(tx: pg.ClientBase): Promise<void> {
  await tx.query(
    `SELECT FROM service.payouts WHERE state NOT IN ('settled', 'cancelled') ORDER BY asked_at, id FOR UPDATE`,
  );
}

/** Locks a payout, so nothing else can change it until the transaction ends. Returns null if no payout has this id. */
export async function lockPayout(tx: pg.ClientBase, id: string): Promise<Payout | null> {
  const { rows } = await tx.query<Row>(`SELECT ${columns} FROM service.payouts WHERE id = $1 FOR UPDATE`, [
    id,
  ]);
  return rows[0] === undefined ? null : payoutOf(rows[0]);
}

export async function readShares(client: pg.Pool | pg.ClientBase, id: string): Promise<PayoutShare[]> {
  const { rows } = await client.query<{
    account: PayoutAccount;
    owner: string | null;
    script: Buffer;
    address: string;
    sats: string;
  }>(
    `SELECT account, owner, script, address, sats::text AS sats FROM service.payout_shares
      WHERE payout = $1 ORDER BY account, owner`,
    [id],
  );
  return rows.map(({ sats, ...row }) => ({ ...row, sats: BigInt(sats) }));
}

/** Stores a new state of a payout, and the time of the change. */
export async function putState(tx: pg.ClientBase, id: string, state: PayoutState): Promise<void> {
  await tx.query(
    `UPDATE service.payouts
        SET state = $2,
            sent_at = CASE WHEN $2 IN ('sent', 'mined', 'settled') THEN coalesce(sent_at, now()) END,
            mined_at = CASE WHEN $2 IN ('mined', 'settled') THEN coalesce(mined_at, now()) END,
            stuck = CASE WHEN $2 IN ('sent', 'mined', 'settled', 'cancelled') THEN NULL ELSE stuck END,
            missing_since = CASE WHEN $2 IN ('signed', 'mined', 'settled', 'cancelled') THEN NULL ELSE missing_since END
      WHERE id = $1`,
    [id, state],
  );
}

/** Stores why a payout cannot proceed. If `stuck` is null, the payout can proceed. */
export async function noteStuck(client: pg.ClientBase, id: string, stuck: string | null): Promise<void> {
  await client.query('UPDATE service.payouts SET stuck = $2 WHERE id = $1 AND stuck IS DISTINCT FROM $2', [
    id,
    stuck,
  ]);
}

/** Stores the height of the tip at which an input was first missing. If `since` is null, no input is missing. */
export async function noteMissing(client: pg.ClientBase, id: string, since: number | null): Promise<void> {
  await client.query(
    'UPDATE service.payouts SET missing_since = $2 WHERE id = $1 AND missing_since IS DISTINCT FROM $2',
    [id, since],
  );
}

/** Stores the key index of the payout's change output. The index never changes afterwards. */
export async function putOwnIndex(tx: pg.ClientBase, id: string, ownIndex: number): Promise<void> {
  await tx.query('UPDATE service.payouts SET own_index = $2 WHERE id = $1 AND own_index IS NULL', [
    id,
    ownIndex,
  ]);
}

/**
 * Sats of partners' shares in transactions that are not in a block. The coins for these transactions are already taken.
 */
export async function sharesUnderWay(client: pg.Pool | pg.ClientBase): Promise<bigint> {
  const { rows } = await client.query<{ sats: string }>(
    `SELECT coalesce(sum(s.sats), 0)::text AS sats FROM service.payouts AS p JOIN service.payout_shares AS s ON s.payout = p.id
      WHERE p.state IN ('signed', 'sent') AND s.owner IS NOT NULL`,
  );
  return BigInt(rows[0]?.sats ?? 0);
}

/** A payout in the form that people see. */
export interface ListedPayout {
  readonly id: string;
  readonly kind: PayoutKind;
  readonly state: PayoutState;
  readonly askedAt: Date;
  readonly sentAt: Date | null;
  readonly minedAt: Date | null;
  /**
   * The txid of the transaction that is mined or can still be mined, in display order. Null if no transaction is
   * signed.
   */
  readonly txid: string | null;
  readonly sats: number;
  /** Fee in sats, or null if no transaction is signed. */
  readonly fee: number | null;
  readonly stuck: string | null;
  readonly shares: readonly {
    /**
     * The code of a referral. Null if the share belongs to the operator, or to a creator, whom the address identifies.
     */
    readonly code: string | null;
    readonly address: string;
    readonly sats: number;
  }[];
}

/** Payouts, the newest first. */
export async function listPayouts(
  client: pg.Pool | pg.ClientBase,
  limit: number,
  ids: readonly string[] | null = null,
): Promise<ListedPayout[]> {
  const { rows } = await client.query<
    Omit<ListedPayout, 'askedAt' | 'sentAt' | 'minedAt' | 'txid' | 'sats'> & {
      asked_at: Date;
      sent_at: Date | null;
      mined_at: Date | null;
      txid: Buffer | null;
    }
  >(
    `SELECT p.id, p.kind, p.state, p.asked_at, p.sent_at, p.mined_at, p.stuck, t.txid, t.fee,
            (SELECT coalesce(jsonb_agg(jsonb_build_object('code', CASE s.account WHEN 'referral' THEN s.owner END,
                                                 'address', s.address, 'sats', s.sats) ORDER BY s.account, s.owner), '[]')
               FROM service.payout_shares AS s WHERE s.payout = p.id) AS shares
       FROM (SELECT * FROM service.payouts WHERE $2::uuid[] IS NULL OR id = ANY($2::uuid[])
              ORDER BY asked_at DESC, id LIMIT $1) AS p
       LEFT JOIN LATERAL (
         SELECT txid, fee FROM service.wallet_transactions
          WHERE payout_id = p.id AND superseded_at IS NULL ORDER BY made_at DESC LIMIT 1) AS t ON true
      ORDER BY p.asked_at DESC, p.id`,
    [limit, ids],
  );
  return rows.map(({ asked_at: askedAt, sent_at: sentAt, mined_at: minedAt, txid, ...row }) => ({
    ...row,
    askedAt,
    sentAt,
    minedAt,
    txid: txid === null ? null : Buffer.from(txid).reverse().toString('hex'),
    sats: row.shares.reduce((sum, { sats }) => sum + sats, 0),
  }));
}
