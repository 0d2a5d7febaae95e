import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import type { KnownKey } from '#kernel/contracts/asking-key.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import type { Scope } from './api-key.ts';
import { type StoredTerms, termsColumns, termsOf } from './key-terms.ts';
import type { Rate } from './rate.ts';

/** The data of a key that a request needs. */
export interface KeyFacts extends KnownKey {
  readonly scopes: readonly Scope[];
  /** `null` if the key has no limit. */
  readonly rate: Rate | null;
}

/** Maximum number of keys in one statement, which takes one or two milliseconds. */
const keysAtOnce = 500;
/**
 * Maximum number of waiting keys: as many as ten statements look up. Only a client that pipelines thousands of requests
 * exceeds this number.
 */
const waitingMax = 5_000;

interface Waiting {
  readonly hash: Buffer;
  readonly resolve: (found: KeyFacts | null) => void;
  readonly reject: (error: AppError) => void;
}

/** Looks up keys in the database. One statement at a time serves all waiting requests. */
export class KeyLookUps {
  readonly #pool: pg.Pool;
  readonly #pauseMs: number;
  readonly #waiting: Waiting[] = [];
  #isRunning = false;

  /** @param pauseMs time between two statements, during which keys gather for the next statement */
  constructor(pool: pg.Pool, pauseMs: number) {
    this.#pool = pool;
    this.#pauseMs = pauseMs;
  }

  /**
   * Finds the key with this hash. Returns `null` if the key does not exist or was revoked. Throws `access_unavailable`.
   */
  find(hash: Buffer): Promise<KeyFacts | null> {
    return new Promise((resolve, reject) => {
      if (this.#waiting.length >= waitingMax) {
        reject(new AppError('access_unavailable', 'Too many keys are waiting to be checked.'));
        return;
      }
      this.#waiting.push({ hash, resolve, reject });
      if (!this.#isRunning) void this.#run();
    });
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    // wait, so that all requests of this turn of the event loop share one statement
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

/**
 * Finds keys by calling a function of the database. The role that answers requests can read a key only if it knows the
 * hash of the key.
 */
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
