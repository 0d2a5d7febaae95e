import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { AppError } from '#kernel/errors/app-error.ts';

/** A creation that its client may send again. */
export interface KeyedRequest {
  readonly route: string;
  /** Client whose keys these are: another one with the same key makes another creation. */
  readonly owner: string;
  readonly key: string;
  /** sha256 of what was sent. */
  readonly bodyHash: Uint8Array;
}

/** `claimed`: nobody else makes it. `busy`: somebody does. `reused`: the key had another body. */
export type KeyState =
  | { readonly kind: 'claimed'; readonly claim: string }
  | { readonly kind: 'answered'; readonly answer: string }
  | { readonly kind: 'busy' }
  | { readonly kind: 'reused' };

/** How long an answer is kept. */
const keptFor = `interval '7 days'`;
/** A process that makes one longer than this has died: bodies have ten minutes, and contents are fetched in one. */
const madeWithin = `interval '15 minutes'`;
/** Old keys that go with each new one: more than one, so that they get fewer. */
const forgottenAtOnce = 100;
/** A key whose maker gives it up between two statements is looked at again. */
const lookMax = 3;

/** Claims a key, or says what became of it. Old keys are deleted. */
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
 * Stores the answer in the transaction of what it tells of, which must not commit without it. Throws
 * `idempotency_key_busy` where another request has taken the claim over.
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

/** Nothing was made: the key may be used again. */
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
