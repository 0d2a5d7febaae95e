import type pg from 'pg';
import { AppError } from '#kernel/errors/app-error.ts';
import { shownPublicKey } from './webhook-keys.ts';

export interface PublicKey {
  /** The key in the form of Standard Webhooks. */
  readonly key: string;
  /** Whether this is the current key. After a change of keys has ended, only the current key signs messages. */
  readonly isCurrent: boolean;
  readonly since: Date;
}

/** The keys that sign messages, the current key first. */
export async function readPublicKeys(client: pg.Pool | pg.ClientBase): Promise<PublicKey[]> {
  const { rows } = await client.query<{ key: Buffer; isCurrent: boolean; since: Date }>(
    `SELECT public_key AS key, is_current AS "isCurrent", since FROM service.webhook_keys
      ORDER BY is_current DESC, since DESC`,
  );
  return rows.map((row) => ({ ...row, key: shownPublicKey(row.key) }));
}

/**
 * Stores which keys sign messages. The current key can change only if `keys` still includes the previous current key.
 * Throws `service_secret_differs` if receivers know a key that this process does not have, because these receivers
 * would refuse the signatures of this process.
 */
export async function noteKeys(tx: pg.ClientBase, keys: readonly Uint8Array[]): Promise<void> {
  // if two processes start at the same time, one process waits for the other
  await tx.query('LOCK TABLE service.webhook_keys IN SHARE ROW EXCLUSIVE MODE');
  const { rows } = await tx.query<{ key: Buffer }>(
    'SELECT public_key AS key FROM service.webhook_keys WHERE is_current',
  );
  const [known] = rows;
  if (known !== undefined && !keys.some((key) => known.key.equals(key))) {
    throw new AppError(
      'service_secret_differs',
      `Receivers know the key ${shownPublicKey(known.key)}, which comes from another secret than the secret in SERVICE_SECRET_FILE.`,
    );
  }
  await replaceKeys(tx, keys);
}

/**
 * Stores which keys sign messages, without a check of the key that receivers know. Receivers must request the new key.
 */
export async function replaceKeys(tx: pg.ClientBase, keys: readonly Uint8Array[]): Promise<void> {
  await tx.query('DELETE FROM service.webhook_keys WHERE public_key <> ALL($1::bytea[])', [keys]);
  // do this before another key becomes current, because only one key can be current
  await tx.query('UPDATE service.webhook_keys SET is_current = false WHERE public_key <> $1', [keys[0]]);
  await tx.query(
    `INSERT INTO service.webhook_keys (public_key, is_current, since)
     SELECT key, nth = 1, now() FROM unnest($1::bytea[]) WITH ORDINALITY AS signs (key, nth)
     ON CONFLICT (public_key) DO UPDATE SET is_current = excluded.is_current`,
    [keys],
  );
}
