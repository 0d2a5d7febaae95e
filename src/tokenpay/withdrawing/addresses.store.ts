import type pg from 'pg';

/** An address that an account withdraws to. */
export interface AllowedAddress {
  readonly account: string;
  readonly address: string;
  readonly script: Uint8Array;
  readonly addedAt: Date;
}

/** Addresses of accounts, or of one. */
export async function readAllowed(
  client: pg.Pool | pg.ClientBase,
  account: string | null,
): Promise<AllowedAddress[]> {
  const { rows } = await client.query<Omit<AllowedAddress, 'addedAt'> & { added_at: Date }>(
    `SELECT account, address, script, added_at FROM service.withdrawal_addresses
      WHERE $1::text IS NULL OR account = $1 ORDER BY account, added_at, address`,
    [account],
  );
  return rows.map(({ added_at: addedAt, ...row }) => ({ ...row, addedAt }));
}

/** Lets an account withdraw to an address. The first one ends that it withdraws to any. */
export async function allowAddress(
  client: pg.Pool | pg.ClientBase,
  { account, address, script }: Omit<AllowedAddress, 'addedAt'>,
): Promise<void> {
  await client.query(
    `INSERT INTO service.withdrawal_addresses (account, address, script) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`,
    [account, address, Buffer.from(script)],
  );
}

/**
 * Takes an address from those that an account withdraws to. The last one only where `mayBeLast`: without one, the account
 * withdraws to any.
 */
export async function forbidAddress(
  tx: pg.ClientBase,
  { account, script }: Pick<AllowedAddress, 'account' | 'script'>,
  mayBeLast: boolean,
): Promise<'forbidden' | 'last' | 'unknown'> {
  // of two commands, the second one counts what the first one left
  const { rows } = await tx.query<{ script: Buffer }>(
    'SELECT script FROM service.withdrawal_addresses WHERE account = $1 ORDER BY script FOR UPDATE',
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

/** Withdrawals of a batch to addresses that their accounts do not withdraw to any more. */
export async function unlistedWithdrawals(
  client: pg.Pool | pg.ClientBase,
  payout: string,
): Promise<string[]> {
  const { rows } = await client.query<{ id: string }>(
    `SELECT id FROM service.withdrawals AS w WHERE w.payout = $1
        AND EXISTS (SELECT FROM service.withdrawal_addresses AS a WHERE a.account = w.account)
        AND NOT EXISTS (SELECT FROM service.withdrawal_addresses AS a WHERE a.account = w.account AND a.script = w.script)`,
    [payout],
  );
  return rows.map(({ id }) => id);
}
