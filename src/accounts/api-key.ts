import { createHash, randomBytes } from 'node:crypto';

/** The permissions that a key can have. A key has one or more of these scopes, and no scope includes another. */
export const scopes = ['search', 'orders', 'tokenpay', 'tokenpay-withdraw', 'admin'] as const;
export type Scope = (typeof scopes)[number];

/** The first part of every key. People, and scanners for leaked secrets, recognise a key by it. */
const mark = 'satscribe_';
/**
 * Number of random bytes in a key. They are 160 bits, so a key cannot be guessed, even though its first 32 bits may be
 * shown.
 */
const secretBytes = 20;
const checkDigits = 8;
const shownDigits = 8;
const pattern = /^satscribe_[0-9a-f]{48}$/u;

/** A new key. `key` is shown once, and the other fields are stored. */
export interface NewApiKey {
  readonly key: string;
  /** The first characters of the key, which may be shown. People tell keys apart by them. */
  readonly prefix: string;
  /** The hash of the key. The database stores this hash, not the key. */
  readonly hash: Buffer;
}

/**
 * Makes a key of three parts: the mark, 40 random hex digits, and 8 check digits. The check digits expose a mistyped
 * key without a database look-up.
 */
export function newApiKey(random: (bytes: number) => Buffer = randomBytes): NewApiKey {
  const body = mark + random(secretBytes).toString('hex');
  const key = body + checkOf(body);
  return { key, prefix: keyPrefix(key), hash: hashOf(key) };
}

/** Returns the first characters of a key, which may be shown. */
export function keyPrefix(key: string): string {
  return key.slice(0, mark.length + shownDigits);
}

/** The hash of a text that has the form of a key and correct check digits; null for any other text. */
export function apiKeyHash(text: string): Buffer | null {
  if (!pattern.test(text)) return null;
  const body = text.slice(0, -checkDigits);
  return checkOf(body) === text.slice(-checkDigits) ? hashOf(text) : null;
}

/**
 * Returns the sha256 of a key, without a salt. Slow hashes and salts protect secrets that people choose, but 2^160
 * random keys cannot be tried. Without a salt, one look-up finds a key by its hash. The time of comparing hashes
 * reveals nothing useful, because an attacker cannot choose a key by the beginning of its hash, and so cannot learn
 * another key's hash.
 */
function hashOf(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}

function checkOf(body: string): string {
  return createHash('sha256').update(`check of ${body}`).digest('hex').slice(0, checkDigits);
}
