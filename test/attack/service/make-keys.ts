import pg from 'pg';
import { insertAccount } from '#accounts/account.store.ts';
import { newApiKey } from '#accounts/api-key.ts';
import { attachEmbeddedPostgres } from '#embedded-postgres/embedded-postgres.ts';

/** Makes API keys without a limit on searches, in the database of a running service. */
export async function makeKeys(dataDir: string, count: number): Promise<string[]> {
  const keys = Array.from({ length: count }, () => newApiKey());
  const { url } = await attachEmbeddedPostgres(dataDir);
  const pool = new pg.Pool({ connectionString: url, max: 1 });
  try {
    await insertAccount(pool, 'good');
    await pool.query(
      `INSERT INTO service.keys (account, hash, prefix, scopes, burst, per_seconds)
       SELECT 'good', hash, prefix, '{search}', 0, 60 FROM unnest($1::bytea[], $2::text[]) AS made(hash, prefix)`,
      [keys.map(({ hash }) => hash), keys.map(({ prefix }) => prefix)],
    );
  } finally {
    await pool.end();
  }
  return keys.map(({ key }) => key);
}
