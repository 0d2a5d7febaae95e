import type pg from 'pg';
import { lockAccount } from '#accounts/account.store.ts';

/** An address that an account or its operator lists. The account can then withdraw only to listed addresses. */
export interface NewAddress {
  readonly account: string;
  readonly address: string;
  readonly script: Uint8Array;
}

/** An address to which an account may withdraw. */
export interface AllowedAddress extends NewAddress {
  readonly addedAt: Date;
  /** Time from which the address may be paid. */
  readonly countsAt: Date;
  /** Whether the address may be paid, because the time `countsAt` is over. */
  readonly counts: boolean;
}

/** Maximum number of addresses that a key of an account can list. The database has the same bound. */
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

/**
 * Addresses of one account, or of all accounts if `account` is null. Addresses that may not be paid yet are included.
 */
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
 * Allows an account to withdraw to an address immediately. After the first such address, the account can withdraw only
 * to listed addresses.
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
 * Adds an address that a key of the account requests. The address may be paid a day later, but the account's first
 * address may be paid immediately. An address that is already listed stays unchanged. Returns null if the account has
 * too many addresses.
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

/**
 * Deletes an address if a key of the account requests this. `last`: no other address that may be paid would be left, so
 * nothing was deleted.
 */
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
 * Removes an address from the list of an account. The last address is removed only if `mayBeLast` is true, because an
 * account without addresses can withdraw to any address.
 */
export async function forbidAddress(
  tx: pg.ClientBase,
  { account, script }: Pick<NewAddress, 'account' | 'script'>,
  mayBeLast: boolean,
): Promise<'forbidden' | 'last' | 'unknown'> {
  // the account is locked, so that the second of two concurrent changes sees the result of the first
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

/** Withdrawals of a batch whose addresses are no longer allowed, or not yet allowed, for their accounts. */
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
