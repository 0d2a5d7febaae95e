import { timingSafeEqual } from 'node:crypto';

/** Compares a secret with a given text, in a time that does not depend on the first different character. */
export function isSameSecret(secret: string, given: string): boolean {
  const [own, other] = [Buffer.from(secret), Buffer.from(given)];
  return own.length === other.length && timingSafeEqual(own, other);
}
