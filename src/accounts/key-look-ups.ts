import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import type { KnownKey } from '#kernel/contracts/asking-key.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import type { Scope } from './api-key.ts';
import { type StoredTerms, termsColumns, termsOf } from './key-terms.ts';
import type { Rate } from './rate.ts';

/** Facts of a key that a request needs. */
export interface KeyFacts extends KnownKey {
  readonly scopes: readonly Scope[];
  /** Null: no limit. */
  readonly rate: Rate | null;
}

/** Keys in one statement: it takes a millisecond or two. */
const keysAtOnce = 500;
/** Keys of ten statements. More wait only if a client pipelines thousands of requests. */
const waitingMax = 5_000;

interface Waiting {
  readonly hash: Buffer;
  readonly resolve: (found: KeyFacts | null) => void;
  readonly reject: (error: AppError) => void;
}

/** Looks up keys in the database: one statement at a time for all waiting requests. */
export class KeyLookUps {
  readonly #pool: pg.Pool;
  readonly #pauseMs: number;
  readonly #waiting: Waiting[] = [];
  #isRunning = false;

  /** @param pauseMs between two statements, during which keys gather */
  constructor(pool: pg.Pool, pauseMs: number) {
    this.#pool = pool;
    this.#pauseMs = pauseMs;
  }

  /** The key with this hash; null where it does not exist or was revoked. Throws `access_unavailable`. */
  find(hash: Buffer): Promise<KeyFacts | null> {
    return new Promise((resolve, reject) => {
      if (this.#waiting.length >= waitingMax) {
        reject(new AppError('access_unavailable', 'Too many keys wait to be checked.'));
        return;
      }
      this.#waiting.push({ hash, resolve, reject });
      if (!this.#isRunning) void this.#run();
    });
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    // all requests of this turn of the event loop share the statement
    await Promise.resolve();
    while (this.#waiting.length > 0) {
      await this.#lookUp(this.#waiting.splice(0, keysAtOnce));
      if (this.#pauseMs > 0) await delay(this.#pauseMs, undefined, { ref: false });
    }
    this.#isRunning = false;
  }

  async #lookUp(asked: readonly Waiting[]): Promise<void> {
    try {
      const found = await keysByHash(
        this.#pool,
        asked.map(({ hash }) => hash),
      );
      for (const { hash, resolve } of asked) resolve(found.get(hash.toString('hex')) ?? null);
    } catch (error) {
      const reason = new AppError('access_unavailable', 'The key cannot be checked now.', {}, error);
      for (const { reject } of asked) reject(reason);
    }
  }
}

interface KeyRow extends Rate, StoredTerms {
  readonly id: number;
  readonly account: string;
  readonly hash: Buffer;
  readonly scopes: readonly Scope[];
}

/** Calls a function of the database: the role that answers requests reads a key only if it knows its hash. */
async function keysByHash(pool: pg.Pool, hashes: readonly Buffer[]): Promise<ReadonlyMap<string, KeyFacts>> {
  const { rows } = await pool.query<KeyRow>(
    `SELECT id, account, hash, scopes, burst, per_seconds AS "perSeconds", ${termsColumns}
       FROM service.keys_by_hash($1::bytea[])`,
    [hashes],
  );
  return new Map(rows.map(factsOf).map((key) => [key.hash, key]));
}

function factsOf({ id, account, hash, scopes, burst, perSeconds, ...stored }: KeyRow): KeyFacts {
  const rate = burst === 0 ? null : { burst, perSeconds };
  const hex = Buffer.from(hash).toString('hex');
  return { kind: 'known', id, account, hash: hex, scopes, rate, terms: termsOf(stored) };
}
