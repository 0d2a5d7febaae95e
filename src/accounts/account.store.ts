import type pg from 'pg';
import type { KeyTerms } from '#kernel/contracts/asking-key.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import type { NewApiKey, Scope } from './api-key.ts';
import { type StoredTerms, storedColumns, termsColumns, termsOf, valuesOf } from './key-terms.ts';
import type { Rate } from './rate.ts';

const foreignKeyViolation = '23503';

/** A key with the data that its owner may see: everything except the key itself. */
export interface StoredKey {
  readonly id: number;
  readonly account: string;
  readonly prefix: string;
  readonly scopes: readonly Scope[];
  /** `null` if the key has no limit. */
  readonly rate: Rate | null;
  readonly terms: KeyTerms;
  readonly createdAt: Date;
  readonly lastUsedAt: Date | null;
  readonly revokedAt: Date | null;
}

/** Throws `account_exists`. */
export async function insertAccount(pool: pg.Pool, name: string): Promise<{ createdAt: Date }> {
  const { rows } = await pool.query<{ createdAt: Date }>(
    `INSERT INTO service.accounts (name) VALUES ($1) ON CONFLICT DO NOTHING RETURNING created_at AS "createdAt"`,
    [name],
  );
  const [row] = rows;
  if (row === undefined) throw new AppError('account_exists', `Account ${name} already exists.`);
  return row;
}

export interface AccountLine {
  readonly name: string;
  readonly createdAt: Date;
  /** Keys that are not revoked. */
  readonly keys: number;
}

/** Lists all accounts by name. */
export async function listAccounts(pool: pg.Pool): Promise<readonly AccountLine[]> {
  const { rows } = await pool.query<AccountLine>(
    `SELECT a.name, a.created_at AS "createdAt", count(k.id) AS keys
       FROM service.accounts a LEFT JOIN service.keys k ON k.account = a.name AND k.revoked_at IS NULL
      GROUP BY a.name ORDER BY a.name`,
  );
  return rows;
}

const keyColumns = `id, account, prefix, scopes,
  CASE WHEN burst > 0 THEN json_build_object('burst', burst, 'perSeconds', per_seconds) END AS rate,
  created_at AS "createdAt", last_used_at AS "lastUsedAt", revoked_at AS "revokedAt", ${termsColumns}`;

type KeyRow = Omit<StoredKey, 'terms'> & StoredTerms;

function storedKey({ baseFee, directBaseFee, reservedMax, discounts, ...key }: KeyRow): StoredKey {
  return { ...key, terms: termsOf({ baseFee, directBaseFee, reservedMax, discounts }) };
}

export interface NewKey {
  readonly account: string;
  /** At least one scope, and no scope twice. */
  readonly scopes: readonly Scope[];
  /** `null` if the key has no limit. */
  readonly rate: Rate | null;
  readonly terms: KeyTerms;
}

/** The stored form of the rate of a key without a limit. `perSeconds` has no meaning then. */
const unlimited: Rate = { burst: 0, perSeconds: 60 };

/** Throws `account_unknown`. */
export async function insertKey(
  pool: pg.Pool,
  { prefix, hash }: Pick<NewApiKey, 'prefix' | 'hash'>,
  { account, scopes, rate, terms }: NewKey,
): Promise<StoredKey> {
  const { burst, perSeconds } = rate ?? unlimited;
  try {
    const { rows } = await pool.query<KeyRow>(
      `INSERT INTO service.keys (account, hash, prefix, scopes, burst, per_seconds, ${storedColumns.join(', ')})
       VALUES ($1, $2, $3, $4, $5, $6, ${storedColumns.map((_, place) => `$${place + 7}`).join(', ')})
       RETURNING ${keyColumns}`,
      [account, hash, prefix, scopes, burst, perSeconds, ...valuesOf(terms)],
    );
    return storedKey(rows[0] as KeyRow);
  } catch (error) {
    if ((error as { code?: unknown }).code === foreignKeyViolation) throw unknownAccount(account);
    throw error;
  }
}

/**
 * Lists the keys of an account, oldest first. `account` is `null` for the keys of all accounts. Throws
 * `account_unknown`.
 */
export async function listKeys(pool: pg.Pool, account: string | null): Promise<readonly StoredKey[]> {
  if (account !== null) await requireAccount(pool, account);
  const { rows } = await pool.query<KeyRow>(
    `SELECT ${keyColumns} FROM service.keys WHERE $1::text IS NULL OR account = $1 ORDER BY id`,
    [account],
  );
  return rows.map(storedKey);
}

export interface WhichKeys {
  readonly account: string;
  /** Selects the keys with at least one of these scopes. An empty list selects keys of any scope. */
  readonly scopes: readonly Scope[];
  /** Selects one key. `null` selects all keys. */
  readonly key: { readonly prefix: string } | { readonly hash: Buffer } | null;
}

/**
 * Revokes the selected keys that are still valid, and returns them. Throws `account_unknown`. Throws `key_not_found` if
 * a single key was named, but does not exist or is already revoked.
 */
export async function revokeKeys(
  pool: pg.Pool,
  { account, scopes, key }: WhichKeys,
): Promise<readonly StoredKey[]> {
  await requireAccount(pool, account);
  const prefix = key !== null && 'prefix' in key ? key.prefix : null;
  const hash = key !== null && 'hash' in key ? key.hash : null;
  const { rows } = await pool.query<KeyRow>(
    `UPDATE service.keys SET revoked_at = now()
      WHERE id IN (
        -- in the order in which services lock them to count what was asked
        SELECT id FROM service.keys
         WHERE account = $1 AND revoked_at IS NULL AND ($2::text[] = '{}' OR scopes && $2)
           AND ($3::text IS NULL OR prefix = $3) AND ($4::bytea IS NULL OR hash = $4)
         ORDER BY id FOR UPDATE)
      RETURNING ${keyColumns}`,
    [account, scopes, prefix, hash],
  );
  if (rows.length === 0 && key !== null) {
    throw new AppError('key_not_found', `Account ${account} has no such key, or it is already revoked.`);
  }
  return rows.map(storedKey).toSorted((a, b) => a.id - b.id);
}

/** Throws `account_unknown`. */
export async function requireAccount(pool: pg.Pool, account: string): Promise<void> {
  const { rowCount } = await pool.query('SELECT FROM service.accounts WHERE name = $1', [account]);
  if (rowCount === 0) throw unknownAccount(account);
}

/** Locks an account until this transaction ends. Other changes to the stored data of the account wait for the lock. */
export async function lockAccount(tx: pg.ClientBase, account: string): Promise<void> {
  await tx.query('SELECT FROM service.accounts WHERE name = $1 FOR NO KEY UPDATE', [account]);
}

/** The keys of a list that are revoked. */
export async function revokedAmong(
  client: pg.Pool | pg.ClientBase,
  keys: readonly number[],
): Promise<number[]> {
  const { rows } = await client.query<{ id: number }>(
    'SELECT id FROM service.keys WHERE id = ANY($1) AND revoked_at IS NOT NULL',
    [keys],
  );
  return rows.map(({ id }) => id);
}

/** Locks a key until this transaction ends. Other transactions that lock the key wait. */
export async function lockKey(tx: pg.ClientBase, keyId: number): Promise<void> {
  await tx.query('SELECT id FROM service.keys WHERE id = $1 FOR NO KEY UPDATE', [keyId]);
}

function unknownAccount(account: string): AppError {
  return new AppError('account_unknown', `There is no account ${account}.`, { account });
}
