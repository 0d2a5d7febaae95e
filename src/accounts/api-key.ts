import { createHash, randomBytes } from 'node:crypto';

/** What a key may be used for: one or more of these. None includes another. */
export const scopes = ['search', 'orders', 'tokenpay', 'admin'] as const;
export type Scope = (typeof scopes)[number];

/** So that people, and scanners for leaked secrets, know one when they see it. */
const mark = 'satscribe_';
/** 160 bits: nobody guesses one, and 32 of them can be shown. */
const secretBytes = 20;
const checkDigits = 8;
const shownDigits = 8;
const pattern = /^satscribe_[0-9a-f]{48}$/u;

/** A key as it is made: `key` is shown once, the rest is kept. */
export interface NewApiKey {
  readonly key: string;
  /** The first characters, by which people tell keys apart. */
  readonly prefix: string;
  /** What a database knows of the key. */
  readonly hash: Buffer;
}

/** Makes a key: a mark, 40 random hex digits, and 8 digits by which a mistyped one is known without a look into any table. */
export function newApiKey(random: (bytes: number) => Buffer = randomBytes): NewApiKey {
  const body = mark + random(secretBytes).toString('hex');
  const key = body + checkOf(body);
  return { key, prefix: key.slice(0, mark.length + shownDigits), hash: hashOf(key) };
}

/** The hash of a text that has the form of a key and the right check digits; null for any other. */
export function apiKeyHash(text: string): Buffer | null {
  if (!pattern.test(text)) return null;
  const body = text.slice(0, -checkDigits);
  return checkOf(body) === text.slice(-checkDigits) ? hashOf(text) : null;
}

/**
 * One round of sha256, unsalted: slow hashes and salts protect secrets that people choose, and there is nothing to try out among
 * 2^160. It lets a key be found by its hash in one look; how long a comparison of hashes takes tells nothing of use, because nobody
 * can make a key whose hash begins as they wish and learn another one's from it.
 */
function hashOf(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}

function checkOf(body: string): string {
  return createHash('sha256').update(`check of ${body}`).digest('hex').slice(0, checkDigits);
}
