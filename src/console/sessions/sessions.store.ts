import { createHash, randomBytes } from 'node:crypto';
import type pg from 'pg';
import type { ActiveKey } from '#accounts/active-key.queries.ts';

/** How long a session lives without a request. A person reads a page for minutes; a screen may be left for lunch. */
const idleMinutes = 30;
/** Maximum age of a session, one working day. A stolen cookie is useless after that. */
const ageHours = 8;
/** Maximum number of sessions that the page of sessions shows. */
const shownMax = 100;

/** A session of an operator. */
export interface ConsoleSession {
  readonly id: number;
  readonly key: ActiveKey;
  /** The text that each form of the session contains. Pages of other sites do not know it. */
  readonly formToken: string;
}

/** A session as the page of sessions shows it. */
export interface ListedSession {
  readonly id: number;
  readonly keyId: number;
  readonly address: string;
  readonly createdAt: Date;
  readonly usedAt: Date;
}

/** Whether a session is alive, apart from its key. */
const isAlive = `ended_at IS NULL AND used_at > now() - interval '${idleMinutes} minutes'
  AND created_at > now() - interval '${ageHours} hours'`;

const secretForm = /^[\w-]{43}$/u;
const hashOf = (secret: string): Buffer => createHash('sha256').update(secret).digest();

/** Derived from the secret, so the database does not know it either. */
export const formTokenOf = (secret: string): string =>
  createHash('sha256').update(`form of ${secret}`).digest('base64url');

/** Opens a session. Returns its secret, which is stored nowhere. */
export async function openSession(pool: pg.Pool, keyId: number, address: string): Promise<string> {
  const secret = randomBytes(32).toString('base64url');
  await pool.query('INSERT INTO service.console_sessions (hash, key_id, address) VALUES ($1, $2, $3)', [
    hashOf(secret),
    keyId,
    address.slice(0, 100),
  ]);
  return secret;
}

/** The living session with this secret, and notes its use. Null: it ended, or there never was one. */
export async function useSession(
  pool: pg.Pool,
  secret: string,
): Promise<{ readonly id: number; readonly keyId: number } | null> {
  if (!secretForm.test(secret)) return null;
  const { rows } = await pool.query<{ id: number; keyId: number }>(
    `UPDATE service.console_sessions SET used_at = now() WHERE hash = $1 AND ${isAlive} RETURNING id, key_id AS "keyId"`,
    [hashOf(secret)],
  );
  return rows[0] ?? null;
}

/** Ends one session, or all sessions (null). Returns the number of sessions that were alive. */
export async function endSessions(pool: pg.Pool | pg.ClientBase, id: number | null): Promise<number> {
  const { rowCount } = await pool.query(
    `UPDATE service.console_sessions SET ended_at = now() WHERE ${isAlive} AND ($1::bigint IS NULL OR id = $1)`,
    [id],
  );
  return rowCount ?? 0;
}

/** The sessions that are alive, the last used first. */
export async function listSessions(pool: pg.Pool): Promise<readonly ListedSession[]> {
  const { rows } = await pool.query<ListedSession>(
    `SELECT id, key_id AS "keyId", address, created_at AS "createdAt", used_at AS "usedAt"
       FROM service.console_sessions WHERE ${isAlive} ORDER BY used_at DESC LIMIT ${shownMax}`,
  );
  return rows;
}
