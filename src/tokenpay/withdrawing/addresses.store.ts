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

/** Takes an address from those that an account withdraws to. False: it was not one. */
export async function forbidAddress(
  client: pg.Pool | pg.ClientBase,
  { account, script }: Pick<AllowedAddress, 'account' | 'script'>,
): Promise<boolean> {
  const { rowCount } = await client.query(
    'DELETE FROM service.withdrawal_addresses WHERE account = $1 AND script = $2',
    [account, Buffer.from(script)],
  );
  return rowCount !== 0;
}
