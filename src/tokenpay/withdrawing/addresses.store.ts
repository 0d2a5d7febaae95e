import type pg from 'pg';
import { lockAccount } from '#accounts/account.store.ts';

/** An address that an account, or its operator, lists: the account then withdraws to no others. */
export interface NewAddress {
  readonly account: string;
  readonly address: string;
  readonly script: Uint8Array;
}

/** An address that an account withdraws to. */
export interface AllowedAddress extends NewAddress {
  readonly addedAt: Date;
  /** It is not paid before this time. */
  readonly countsAt: Date;
  /** Whether that time is over. */
  readonly counts: boolean;
}

/** The most addresses that an account lists by its key. The database has the same bound. */
export const addressesMax = 100;

const columns = 'account, address, script, added_at, counts_at, counts_at <= now() AS counts';

type Row = Omit<AllowedAddress, 'addedAt' | 'countsAt'> & {
  readonly added_at: Date;
  readonly counts_at: Date;
};

const allowedOf = ({ added_at: addedAt, counts_at: countsAt, ...row }: Row): AllowedAddress => ({
  ...row,
  addedAt,
  countsAt,
});

/** Addresses of all accounts, or of one; also those that do not count yet. */
export async function readAllowed(
  client: pg.Pool | pg.ClientBase,
  account: string | null,
): Promise<AllowedAddress[]> {
  const { rows } = await client.query<Row>(
    `SELECT ${columns} FROM service.withdrawal_addresses
      WHERE $1::text IS NULL OR account = $1 ORDER BY account, added_at, address`,
    [account],
  );
  return rows.map(allowedOf);
}

/**
 * Lets an account withdraw to an address at once. After the first one, it can no longer withdraw to any other address.
 */
export async function allowAddress(
  tx: pg.ClientBase,
  { account, address, script }: NewAddress,
): Promise<void> {
  await lockAccount(tx, account);
  await tx.query(
    `INSERT INTO service.withdrawal_addresses AS a (account, address, script) VALUES ($1, $2, $3)
     ON CONFLICT (account, script) DO UPDATE SET counts_at = least(a.counts_at, now())`,
    [account, address, Buffer.from(script)],
  );
}

/**
 * Lists an address by a key of the account: it counts a day later, unless it is the first one. A listed address stays
 * unchanged. Null: the account has too many.
 */
export async function listAddress(
  client: pg.Pool | pg.ClientBase,
  { account, address, script }: NewAddress,
): Promise<AllowedAddress | null> {
  const { rows } = await client.query<Row>(
    `SELECT ${columns} FROM service.list_withdrawal_address($1, $2, $3)`,
    [account, Buffer.from(script), address],
  );
  return rows[0] === undefined ? null : allowedOf(rows[0]);
}

/** Deletes an address by a key of the account. `last`: no other address that counts would be left. */
export async function deleteAddress(
  client: pg.Pool | pg.ClientBase,
  { account, script }: Pick<NewAddress, 'account' | 'script'>,
): Promise<'deleted' | 'last' | 'unknown'> {
  const { rows } = await client.query<{ outcome: 'deleted' | 'last' | 'unknown' }>(
    'SELECT service.delete_withdrawal_address($1, $2) AS outcome',
    [account, Buffer.from(script)],
  );
  return rows[0]?.outcome ?? 'unknown';
}

/**
 * Removes an address from those that an account withdraws to. The last one only with `mayBeLast`: without addresses,
 * the account withdraws to any.
 */
export async function forbidAddress(
  tx: pg.ClientBase,
  { account, script }: Pick<NewAddress, 'account' | 'script'>,
  mayBeLast: boolean,
): Promise<'forbidden' | 'last' | 'unknown'> {
  // of two concurrent changes, the second one counts the result of the first
  await lockAccount(tx, account);
  const { rows } = await tx.query<{ script: Buffer }>(
    'SELECT script FROM service.withdrawal_addresses WHERE account = $1',
    [account],
  );
  if (rows.every((each) => Buffer.compare(each.script, script) !== 0)) return 'unknown';
  if (rows.length === 1 && !mayBeLast) return 'last';
  await tx.query('DELETE FROM service.withdrawal_addresses WHERE account = $1 AND script = $2', [
    account,
    Buffer.from(script),
  ]);
  return 'forbidden';
}

/** Withdrawals of a batch to addresses that their accounts no longer withdraw to, or not yet. */
export async function unlistedWithdrawals(
  client: pg.Pool | pg.ClientBase,
  payout: string,
): Promise<string[]> {
  const { rows } = await client.query<{ id: string }>(
    `SELECT id FROM service.withdrawals AS w WHERE w.payout = $1
        AND EXISTS (SELECT FROM service.withdrawal_addresses AS a WHERE a.account = w.account)
        AND NOT EXISTS (SELECT FROM service.withdrawal_addresses AS a
                         WHERE a.account = w.account AND a.script = w.script AND a.counts_at <= now())`,
    [payout],
  );
  return rows.map(({ id }) => id);
}
