import { LRUCache } from 'lru-cache';
import type pg from 'pg';
import { AppError } from '#kernel/errors/app-error.ts';
import type { Scope } from './api-key.ts';
import type { Rate } from './rate.ts';

/** What a request needs to know of its key. */
export interface KeyFacts {
  readonly id: number;
  readonly scopes: readonly Scope[];
  /** Null: no limit. */
  readonly rate: Rate | null;
}

/**
 * How long a key is remembered before it is looked up again: a revoked key is refused everywhere after this time at
 * the latest.
 */
export const keyMemoryMs = 5000;
/** Remembered keys: keys in use, and unknown ones that clients keep sending; some 200 bytes each. */
const keysMax = 20_000;

interface Entry {
  readonly found: Promise<KeyFacts | null>;
  readonly until: number;
  /** Null during the first look-up. */
  isGood: boolean | null;
}

/** Valid keys by hash, remembered for some seconds. */
export class KeyDirectory {
  readonly #pool: pg.Pool;
  readonly #now: () => number;
  readonly #entries = new LRUCache<string, Entry>({ max: keysMax });

  constructor(pool: pg.Pool, now: () => number = () => performance.now()) {
    this.#pool = pool;
    this.#now = now;
  }

  /** What is remembered of a key; undefined where it must be looked up. */
  remembered(hash: Buffer): Promise<KeyFacts | null> | undefined {
    const entry = this.#entries.get(hash.toString('hex'));
    return entry === undefined || this.#now() >= entry.until ? undefined : entry.found;
  }

  /** Whether the last look-up of the key found it valid, however long ago. */
  wasGood(hash: Buffer): boolean {
    return this.#entries.peek(hash.toString('hex'))?.isGood === true;
  }

  /**
   * The key with this hash; null where it does not exist or was revoked. Concurrent requests share one look-up.
   * Throws `access_unavailable`.
   */
  find(hash: Buffer): Promise<KeyFacts | null> {
    const remembered = this.remembered(hash);
    if (remembered !== undefined) return remembered;
    const name = hash.toString('hex');
    const found = keyByHash(this.#pool, hash);
    const entry: Entry = {
      found,
      until: this.#now() + keyMemoryMs,
      isGood: this.#entries.peek(name)?.isGood ?? null,
    };
    this.#entries.set(name, entry);
    found.then(
      (key) => {
        entry.isGood = key !== null;
      },
      () => {
        if (this.#entries.peek(name) === entry) this.#entries.delete(name);
      },
    );
    return found;
  }
}

interface KeyRow extends Rate {
  readonly id: number;
  readonly scopes: readonly Scope[];
}

async function keyByHash(pool: pg.Pool, hash: Buffer): Promise<KeyFacts | null> {
  try {
    const { rows } = await pool.query<KeyRow>(
      `SELECT id, scopes, burst, per_seconds AS "perSeconds" FROM service.keys WHERE hash = $1 AND revoked_at IS NULL`,
      [hash],
    );
    const [row] = rows;
    if (row === undefined) return null;
    const { id, scopes, burst, perSeconds } = row;
    return { id, scopes, rate: burst === 0 ? null : { burst, perSeconds } };
  } catch (error) {
    throw new AppError('access_unavailable', 'The key cannot be checked now.', {}, error);
  }
}
