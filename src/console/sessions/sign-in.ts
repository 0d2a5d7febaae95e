import { apiKeyHash } from '#accounts/api-key.ts';
import type { KeyFacts, KeyLookUps } from '#accounts/key-look-ups.ts';
import type { Rate } from '#accounts/rate.ts';
import type { RateLimiter } from '#accounts/rate-limiter.ts';
import { AppError } from '#kernel/errors/app-error.ts';

/**
 * Maximum number of keys that one address can type, at once and in a minute. A person types one for each action that
 * moves money. No one can guess 160 bits: the bound keeps programs from asking the database without end.
 */
const typedKeys: Rate = { burst: 20, perSeconds: 60 };

export interface KeyCheckParts {
  readonly keys: Pick<KeyLookUps, 'find'>;
  readonly limiter: Pick<RateLimiter, 'take'>;
}

/**
 * The key with the scope `admin` that an operator typed. Looked up at once, so a revoked key is refused from its
 * revocation on. Throws `rate_limited`, `key_refused`, `key_scope` and `access_unavailable`.
 *
 * @param client the unit that limits count as one client
 */
export async function checkTypedKey(
  { keys, limiter }: KeyCheckParts,
  typed: string,
  client: string,
): Promise<KeyFacts> {
  const decision = await limiter.take(`console ${client}`, typedKeys);
  if (!decision.isAllowed) {
    const seconds = Math.ceil(decision.retryAfterMs / 1000);
    throw new AppError(
      'rate_limited',
      `Too many keys were typed from this address, at most ${typedKeys.burst} in a minute. Try again in ${seconds} s.`,
    );
  }
  const hash = apiKeyHash(typed.trim());
  if (hash === null)
    throw new AppError(
      'key_refused',
      'This is not a complete key: its check digits do not fit. Paste the whole key, from satscribe_ on.',
    );
  const key = await keys.find(hash);
  if (key === null)
    throw new AppError(
      'key_refused',
      'This key is unknown here, or it was revoked. Make a key with satscribe keys create --account NAME --scope admin.',
    );
  if (!key.scopes.includes('admin'))
    throw new AppError(
      'key_scope',
      `This key is for ${key.scopes.join(', ')}. The console needs a key with the scope admin: satscribe keys create --account NAME --scope admin.`,
    );
  return key;
}
