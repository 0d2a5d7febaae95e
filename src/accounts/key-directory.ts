import { LRUCache } from 'lru-cache';
import type pg from 'pg';
import { AppError } from '#kernel/errors/app-error.ts';
import type { Scope } from './api-key.ts';
import type { Rate } from './rate.ts';

/** What a request with a key needs to know of it. */
export interface KeyFacts {
  readonly id: number;
  readonly scopes: readonly Scope[];
  /** Null: no limit. */
  readonly rate: Rate | null;
}

/** After so long a key is looked up again: what is revoked is refused everywhere this much later at the latest. */
export const keyMemoryMs = 5000;
/** Keys in use at once, and unknown ones that clients go on to send; some 200 bytes each. */
const keysMax = 20_000;

interface Entry {
  readonly found: Promise<KeyFacts | null>;
  readonly until: number;
  /** Null while it is looked up for the first time. */
  isGood: boolean | null;
}

/** Keys that are good, by hash, remembered for some seconds. */
export class KeyDirectory {
  readonly #pool: pg.Pool;
  readonly #now: () => number;
  readonly #entries = new LRUCache<string, Entry>({ max: keysMax });

  constructor(pool: pg.Pool, now: () => number = () => performance.now()) {
    this.#pool = pool;
    this.#now = now;
  }

  /** What is remembered of a key: undefined where it must be looked up. */
  remembered(hash: Buffer): Promise<KeyFacts | null> | undefined {
    const entry = this.#entries.get(hash.toString('hex'));
    return entry === undefined || this.#now() >= entry.until ? undefined : entry.found;
  }

  /** Whether a key was good when it was looked up last, however long ago that is. */
  wasGood(hash: Buffer): boolean {
    return this.#entries.peek(hash.toString('hex'))?.isGood === true;
  }

  /**
   * The key with this hash; null where there is none, or it was revoked. Those that ask at once share one look. Throws
   * `access_unavailable`.
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
    throw new AppError('access_unavailable', 'The key cannot be looked up now.', {}, error);
  }
}
