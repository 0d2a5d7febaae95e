import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { AppError } from '#kernel/errors/app-error.ts';

/** A creation that its client may send again. */
export interface KeyedRequest {
  readonly route: string;
  /** The client that owns the key. The same key of another client belongs to another creation. */
  readonly owner: string;
  readonly key: string;
  /** The sha256 of the values of the request's body (`body-hash.ts`). */
  readonly bodyHash: Uint8Array;
}

/**
 * State of a key. `claimed`: this request does the creation. `answered`: an earlier request did the creation. `busy`:
 * another request is doing the creation. `reused`: the key was already used with another body.
 */
export type KeyState =
  | { readonly kind: 'claimed'; readonly claim: string }
  | { readonly kind: 'answered'; readonly answer: string }
  | { readonly kind: 'busy' }
  | { readonly kind: 'reused' };

/** How long the answer of a creation is kept. */
const keptFor = `interval '7 days'`;
/**
 * Maximum time of a creation. After this time, the request is considered dead, and its key can be claimed again. A body
 * may take ten minutes, and fetching contents one minute.
 */
const madeWithin = `interval '15 minutes'`;
/**
 * Maximum number of old keys that are deleted with each new key. It is above 1, so that the number of old keys falls.
 */
const forgottenAtOnce = 100;
/**
 * Maximum number of attempts to claim or read a key. An attempt fails if another request frees the key between the two
 * statements.
 */
const lookMax = 3;

/** Claims a key, or returns what happened to an earlier request with this key. Also deletes old keys. */
export async function claimKey(
  pool: pg.Pool,
  { route, owner, key, bodyHash }: KeyedRequest,
): Promise<KeyState> {
  await pool.query(
    `DELETE FROM service.idempotency_keys WHERE (route, owner, key) IN (
       SELECT route, owner, key FROM service.idempotency_keys WHERE claimed_at < now() - ${keptFor}
        LIMIT $1 FOR UPDATE SKIP LOCKED)`,
    [forgottenAtOnce],
  );
  const hash = Buffer.from(bodyHash);
  const claim = randomUUID();
  for (let look = 0; look < lookMax; look++) {
    const { rowCount } = await pool.query(
      `INSERT INTO service.idempotency_keys AS known (route, owner, key, body_hash, claim) VALUES ($1, $2, $3, $4, $5)
       ON CONFLICT (route, owner, key) DO UPDATE
         SET body_hash = excluded.body_hash, claim = excluded.claim, claimed_at = now(), answer = NULL
       WHERE known.claimed_at < now() - CASE WHEN known.answer IS NULL THEN ${madeWithin} ELSE ${keptFor} END`,
      [route, owner, key, hash, claim],
    );
    if (rowCount === 1) return { kind: 'claimed', claim };
    const { rows } = await pool.query<{ isSame: boolean; answer: string | null }>(
      `SELECT body_hash = $4 AS "isSame", answer FROM service.idempotency_keys
        WHERE route = $1 AND owner = $2 AND key = $3`,
      [route, owner, key, hash],
    );
    const [known] = rows;
    if (known === undefined) continue;
    if (!known.isSame) return { kind: 'reused' };
    return known.answer === null ? { kind: 'busy' } : { kind: 'answered', answer: known.answer };
  }
  return { kind: 'busy' };
}

/**
 * Stores the answer of a creation in the database transaction of the creation, so that both are committed or neither
 * is. Throws `idempotency_key_busy` if another request has taken over the claim.
 */
export async function answerKey(
  tx: pg.ClientBase,
  { route, owner, key }: Pick<KeyedRequest, 'route' | 'owner' | 'key'>,
  claim: string,
  answer: object,
): Promise<void> {
  const { rowCount } = await tx.query(
    `UPDATE service.idempotency_keys SET answer = $5
      WHERE route = $1 AND owner = $2 AND key = $3 AND claim = $4 AND answer IS NULL`,
    [route, owner, key, claim, JSON.stringify(answer)],
  );
  if (rowCount !== 1)
    throw new AppError('idempotency_key_busy', 'another request with this Idempotency-Key took too long');
}

/** Frees a key, because nothing was created. */
export async function giveUpKey(
  pool: pg.Pool,
  { route, owner, key }: Pick<KeyedRequest, 'route' | 'owner' | 'key'>,
  claim: string,
): Promise<void> {
  await pool.query(
    `DELETE FROM service.idempotency_keys
      WHERE route = $1 AND owner = $2 AND key = $3 AND claim = $4 AND answer IS NULL`,
    [route, owner, key, claim],
  );
}
