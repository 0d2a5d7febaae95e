import type { AskingKey, KnownKey } from '#kernel/contracts/asking-key.ts';
import { AppError } from '#kernel/errors/app-error.ts';

/** The asking key as a known key. The guard admits no other askers. */
export function keyOf(key: AskingKey): KnownKey {
  if (key.kind === 'known') return key;
  throw new AppError('key_missing', 'token payments need a key with the scope tokenpay');
}
