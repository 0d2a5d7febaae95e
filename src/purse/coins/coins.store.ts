import type pg from 'pg';
import type { WalletKey } from '#kernel/contracts/transaction-plan.ts';
import { type Txid, trustedTxid } from '#kernel/primitives/hash.ts';
import type { Height } from '#kernel/primitives/height.ts';
import { isSpent } from '#purse/transactions/spends.store.ts';
import type { HeldCoin, OwnedCoin } from './coin.ts';

/** The coins that are computed together. All other coins stay unchanged. */
export type CoinScope =
  | { readonly kind: 'order' | 'payout' | 'token-order'; readonly subjects: readonly string[] }
  | { readonly kind: 'bump'; readonly txids: readonly Txid[] }
  | { readonly kind: 'fund' };

const inScope: Readonly<Record<CoinScope['kind'], string>> = {
  order: 'c.subject = ANY($1::uuid[])',
  payout: 'c.subject = ANY($1::uuid[])',
  'token-order': 'c.subject = ANY($1::uuid[])',
  bump: `c.kind = 'bump' AND c.txid = ANY($1::bytea[])`,
  fund: `c.kind = 'fund' AND $1::text IS NULL`,
};

const given = (scope: CoinScope): readonly (string | Buffer)[] | null => {
  if (scope.kind === 'bump') return scope.txids.map((txid) => Buffer.from(txid));
  return scope.kind === 'fund' ? null : scope.subjects;
};

type KeptCoin = HeldCoin & Pick<OwnedCoin, 'subject'>;

/**
 * Reads the coins of a scope. Most rounds change nothing, and this query costs only a third of the statement that
 * writes.
 */
async function readScope(tx: pg.ClientBase, scope: CoinScope): Promise<KeptCoin[]> {
  const { rows } = await tx.query<
    Pick<KeptCoin, 'vout' | 'subject' | 'held' | 'why'> & {
      txid: Buffer;
      value: number;
      branch: number;
      key_index: number;
    }
  >(
    `SELECT txid, vout, value, branch, key_index, subject, held, why FROM service.wallet_coins AS c
      WHERE ${inScope[scope.kind]}`,
    [given(scope)],
  );
  return rows.map(({ txid, value, branch, key_index: index, ...row }) => ({
    ...row,
    txid: trustedTxid(txid),
    value: BigInt(value),
    key: { branch, index },
  }));
}

function areSame(stored: readonly KeptCoin[], wanted: readonly KeptCoin[]): boolean {
  const lineOf = ({ txid, vout, value, key, subject, held, why }: KeptCoin): string =>
    [Buffer.from(txid).toString('hex'), vout, value, key.branch, key.index, subject, held, why].join();
  const lines = new Set(stored.map(lineOf));
  return stored.length === wanted.length && wanted.every((coin) => lines.has(lineOf(coin)));
}

/**
 * Replaces the coins of a scope with the computed coins, and writes only differences. A second call has no effect.
 * Notes about contents that were found in a coin are kept.
 */
export async function keepCoins(
  tx: pg.ClientBase,
  scope: CoinScope,
  coins: readonly KeptCoin[],
): Promise<void> {
  if (areSame(await readScope(tx, scope), coins)) return;
  await tx.query(
    `WITH wanted AS (
       SELECT * FROM unnest($3::bytea[], $4::integer[], $5::bigint[], $6::smallint[], $7::integer[], $8::uuid[], $9::text[],
                            $10::text[]) AS w (txid, vout, value, branch, key_index, subject, held, why)
     ), gone AS (
       DELETE FROM service.wallet_coins AS c
        WHERE ${inScope[scope.kind]}
          AND NOT EXISTS (SELECT FROM wanted AS w WHERE w.txid = c.txid AND w.vout = c.vout)
     )
     INSERT INTO service.wallet_coins AS c (txid, vout, value, branch, key_index, kind, subject, held, why)
     SELECT txid, vout, value, branch, key_index, $2, subject, held, why FROM wanted ORDER BY txid, vout
     ON CONFLICT (txid, vout) DO UPDATE
        SET value = excluded.value, branch = excluded.branch, key_index = excluded.key_index, kind = excluded.kind,
            subject = excluded.subject, held = excluded.held, why = excluded.why
      WHERE (c.value, c.branch, c.key_index, c.kind, c.subject, c.held, c.why) IS DISTINCT FROM
            (excluded.value, excluded.branch, excluded.key_index, excluded.kind, excluded.subject, excluded.held,
             excluded.why)`,
    [
      given(scope),
      scope.kind,
      coins.map(({ txid }) => Buffer.from(txid)),
      coins.map(({ vout }) => vout),
      coins.map(({ value }) => value),
      coins.map(({ key }) => key.branch),
      coins.map(({ key }) => key.index),
      coins.map(({ subject }) => subject),
      coins.map(({ held }) => held),
      coins.map(({ why }) => why),
    ],
  );
}

/** A free coin in a block. It is not yet proven that the coin holds only sats. */
export interface WalletCoin {
  readonly txid: Txid;
  readonly vout: number;
  readonly value: number;
  readonly script: Buffer;
  readonly height: Height;
  readonly hash: Buffer;
  readonly keyIndex: number;
}

/**
 * Free coins in blocks that no stored transaction spends, without the inventory. The largest come first.
 *
 * @param limit maximum number of coins, or null for all
 */
export async function readFreeCoins(
  client: pg.Pool | pg.ClientBase,
  limit: number | null,
): Promise<WalletCoin[]> {
  const { rows } = await client.query<
    Omit<WalletCoin, 'txid' | 'keyIndex'> & { txid: Buffer; key_index: number }
  >(
    `SELECT c.txid, c.vout, c.value, p.script, p.height, p.hash, c.key_index
       FROM service.wallet_coins AS c JOIN service.payments_seen AS p ON p.txid = c.txid AND p.vout = c.vout
      WHERE c.held = 'free' AND c.aside IS NULL AND p.height IS NOT NULL
        AND NOT EXISTS (SELECT FROM service.inventory_outputs AS i WHERE i.txid = c.txid AND i.vout = c.vout)
        AND NOT ${isSpent('c.txid', 'c.vout')}
      ORDER BY c.value DESC, c.txid, c.vout LIMIT $1`,
    [limit],
  );
  return rows.map(({ txid, key_index: keyIndex, ...row }) => ({ ...row, txid: trustedTxid(txid), keyIndex }));
}

/**
 * Sum of all coins that belong to the service now, or will belong to it as soon as their orders are delivered. Coins
 * that a stored transaction spends are not included. Sats that are owed to partners are included.
 */
export async function satsOfService(client: pg.Pool | pg.ClientBase): Promise<bigint> {
  const { rows } = await client.query<{ sats: string }>(
    `SELECT coalesce(sum(c.value), 0)::text AS sats FROM service.wallet_coins AS c
      WHERE c.held IN ('free', 'waiting') AND c.aside IS NULL AND NOT ${isSpent('c.txid', 'c.vout')}`,
  );
  return BigInt(rows[0]?.sats ?? 0);
}

/**
 * SQL: whether a coin is held for accounts, not set aside, and not spent by a stored transaction. `coin` is the name of
 * the coin's row in the statement. An index on `is_spent` omits spent coins, so old coins cost nothing.
 */
export const isFreeOfAccounts = (coin: string): string =>
  `(${coin}.held = 'accounts' AND ${coin}.aside IS NULL AND NOT ${coin}.is_spent
    AND NOT ${isSpent(`${coin}.txid`, `${coin}.vout`)})`;

/** Sats of all coins that are held for accounts, not set aside, and not spent by a stored transaction. */
export async function satsOfAccounts(client: pg.Pool | pg.ClientBase): Promise<bigint> {
  const { rows } = await client.query<{ sats: string }>(
    `SELECT coalesce(sum(c.value), 0)::text AS sats FROM service.wallet_coins AS c
      WHERE ${isFreeOfAccounts('c')}`,
  );
  return BigInt(rows[0]?.sats ?? 0);
}

/**
 * Sum of free coins that no stored transaction spends, without the inventory. Includes coins in blocks, and change of
 * payouts. A payout's change is included before it is mined. Either one of the payout's transactions is mined, or the
 * payout's coins become free again. An index on `is_spent` omits spent coins.
 */
export async function satsOfFreeCoins(client: pg.Pool | pg.ClientBase): Promise<bigint> {
  const { rows } = await client.query<{ sats: string }>(
    `SELECT coalesce(sum(c.value), 0)::text AS sats FROM service.wallet_coins AS c
      WHERE c.held = 'free' AND c.aside IS NULL AND NOT c.is_spent AND NOT ${isSpent('c.txid', 'c.vout')}
        AND (c.kind = 'payout' OR EXISTS (
          SELECT FROM service.payments_seen AS p WHERE p.txid = c.txid AND p.vout = c.vout AND p.height IS NOT NULL))
        AND NOT EXISTS (SELECT FROM service.inventory_outputs AS i WHERE i.txid = c.txid AND i.vout = c.vout)`,
  );
  return BigInt(rows[0]?.sats ?? 0);
}

/** A coin that a plan wanted to spend, but that holds more than sats. */
export interface FoundInCoin {
  readonly coin: Pick<WalletCoin, 'txid' | 'vout'>;
  readonly found: 'inscribed' | 'runic' | 'special';
}

/** Sets coins aside because they hold more than sats, so no plan uses them. */
export async function setAside(
  client: pg.Pool | pg.ClientBase,
  coins: readonly FoundInCoin[],
): Promise<void> {
  if (coins.length === 0) return;
  await client.query(
    `UPDATE service.wallet_coins AS c SET aside = f.found
       FROM unnest($1::bytea[], $2::integer[], $3::text[]) AS f (txid, vout, found)
      WHERE c.txid = f.txid AND c.vout = f.vout`,
    [
      coins.map(({ coin }) => Buffer.from(coin.txid)),
      coins.map(({ coin }) => coin.vout),
      coins.map(({ found }) => found),
    ],
  );
}

/** A coin that is set aside, in the form that a plan spends. */
export interface AsideCoin extends Pick<HeldCoin, 'txid' | 'vout' | 'value'> {
  readonly key: WalletKey;
  readonly script: Buffer;
}

/** Reads a coin of a shop's order that is in a block and set aside. Returns null if there is no such coin. */
export async function readAsideCoin(
  client: pg.Pool | pg.ClientBase,
  { txid, vout }: Pick<HeldCoin, 'txid' | 'vout'>,
): Promise<AsideCoin | null> {
  const { rows } = await client.query<{
    value: string;
    branch: WalletKey['branch'];
    key_index: number;
    script: Buffer;
  }>(
    `SELECT c.value::text AS value, c.branch, c.key_index, p.script
       FROM service.wallet_coins AS c JOIN service.payments_seen AS p ON p.txid = c.txid AND p.vout = c.vout
      WHERE c.txid = $1 AND c.vout = $2 AND c.kind = 'token-order' AND c.held = 'accounts' AND c.aside IS NOT NULL
        AND p.height IS NOT NULL`,
    [Buffer.from(txid), vout],
  );
  const [row] = rows;
  if (row === undefined) return null;
  const { value, branch, key_index: index, script } = row;
  return { txid, vout, value: BigInt(value), key: { branch, index }, script };
}

/**
 * Ends the special treatment of a coin that was set aside, by decision of an operator. The coin can then be spent like
 * other coins.
 */
export async function endAside(
  tx: pg.ClientBase,
  { txid, vout }: Pick<WalletCoin, 'txid' | 'vout'>,
): Promise<void> {
  await tx.query('UPDATE service.wallet_coins SET aside = NULL WHERE txid = $1 AND vout = $2', [
    Buffer.from(txid),
    vout,
  ]);
}

/** A coin from the table of coins, with the fields that an audit compares. */
export interface ListedCoin extends Pick<OwnedCoin, 'txid' | 'vout' | 'value' | 'subject'> {
  /** Script in hex, or null if no known payment has the coin. */
  readonly script: string | null;
  readonly isFree: boolean;
  readonly isInBlock: boolean;
}

/** The coins of these subjects, including bumps. */
export async function readCoinsOf(
  client: pg.Pool | pg.ClientBase,
  subjects: readonly string[],
  bumps: readonly Txid[],
): Promise<ListedCoin[]> {
  const { rows } = await client.query<{
    txid: Buffer;
    vout: number;
    value: string;
    subject: string | null;
    script: string | null;
    is_free: boolean;
    is_in_block: boolean;
  }>(
    `SELECT c.txid, c.vout, c.value::text AS value, c.subject, encode(p.script, 'hex') AS script,
            c.held = 'free' AS is_free, p.height IS NOT NULL AS is_in_block
       FROM (SELECT txid, vout, value, subject, held FROM service.wallet_coins WHERE subject = ANY($1::uuid[])
             UNION ALL
             SELECT txid, vout, value, subject, held FROM service.wallet_coins
              WHERE txid = ANY($2::bytea[]) AND kind = 'bump') AS c
       LEFT JOIN service.payments_seen AS p ON p.txid = c.txid AND p.vout = c.vout`,
    [subjects, bumps.map((txid) => Buffer.from(txid))],
  );
  return rows.map(({ txid, value, is_free: isFree, is_in_block: isInBlock, ...row }) => ({
    ...row,
    txid: trustedTxid(txid),
    value: BigInt(value),
    isFree,
    isInBlock,
  }));
}

/** Free coins that are funds of the operator. */
export async function readFundsListed(
  client: pg.Pool | pg.ClientBase,
): Promise<Pick<OwnedCoin, 'txid' | 'vout'>[]> {
  const { rows } = await client.query<{ txid: Buffer; vout: number }>(
    `SELECT txid, vout FROM service.wallet_coins WHERE kind = 'fund' AND held = 'free'`,
  );
  return rows.map(({ txid, vout }) => ({ txid: trustedTxid(txid), vout }));
}
