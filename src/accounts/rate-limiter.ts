import { AppError } from '#kernel/errors/app-error.ts';
import type { LeaseAsk, LeaseGrant } from './lease.store.ts';
import type { Rate } from './rate.ts';

/**
 * How long a lease lasts, in ms. Unused tokens are returned after this time, so that other processes can use them. A
 * steady client costs one statement in this time, and one more if the lease was too small.
 */
export const leaseMs = 2000;
/**
 * Divisor of the burst: one lease takes at most 1/20 of a full bucket. A process is therefore wrong by at most 5 % of
 * the burst. For a small bucket a lease is one token, and the error is 0.
 */
const leasePart = 20;
/**
 * Maximum number of tokens in a lease. It is for the busiest clients, which may then send 2,000 requests per second.
 */
const leaseMax = 4000;
/**
 * Maximum number of buckets that a process remembers, at some 200 bytes each. The least recently used buckets are
 * dropped first, with their leases.
 */
const bucketsMax = 100_000;

/** Returns the maximum number of tokens that a process takes in advance for a subject of this rate. */
export function leaseCap({ burst }: Rate): number {
  return Math.min(leaseMax, Math.max(1, Math.floor(burst / leasePart)));
}

export interface Decision {
  readonly isAllowed: boolean;
  /** The limit: `burst` requests at once, and then as many in every `perSeconds`. */
  readonly rate: Rate;
  /** Tokens left, as far as this process knows. */
  readonly remaining: number;
  /** Milliseconds until the bucket is full again. */
  readonly resetMs: number;
  /** Milliseconds until the next request is allowed; 0 if one is allowed now. */
  readonly retryAfterMs: number;
}

export interface RateLimiterParts {
  readonly lease: (asks: readonly LeaseAsk[]) => Promise<readonly LeaseGrant[]>;
  /** Milliseconds of a monotonic clock. */
  readonly now?: () => number;
}

/** The data that a process has about the bucket of a subject. */
interface Bucket {
  readonly subject: string;
  rate: Rate;
  /** Unused tokens of the current lease, which are valid until `leasedUntil`. */
  tokens: number;
  leasedUntil: number;
  /** The bucket is known to be empty until this time, so the database is not queried before then. */
  emptyUntil: number;
  /** Number of tokens to request in the next lease. */
  chunk: number;
  /** Number of tokens left in the database, and the time of that count. */
  level: number;
  levelAt: number;
  /** Number of tokens to return with the next statement. */
  givenBack: number;
  /** Whether a statement for this bucket is running. */
  isAsked: boolean;
  waiting: { readonly resolve: (decision: Decision) => void; readonly reject: (error: Error) => void }[];
}

/**
 * Token buckets that any number of processes share through their database. A process takes tokens in leases, and spends
 * leased tokens without a query. A single statement at a time serves all subjects that need more tokens. For every
 * bucket and every span of time, the number of allowed requests is at most: burst + burst × span / per + (leaseCap − 1)
 * × processes.
 */
export class RateLimiter {
  readonly #parts: Required<RateLimiterParts>;
  readonly #buckets = new Map<string, Bucket>();
  /** Subjects that have leased tokens. */
  readonly #leased = new Set<Bucket>();
  /** Subjects that wait for tokens, or have tokens to return. */
  readonly #asking = new Set<Bucket>();
  #running: Promise<void> | null = null;
  readonly #timer: NodeJS.Timeout;

  constructor({ lease, now = () => performance.now() }: RateLimiterParts) {
    this.#parts = { lease, now };
    this.#timer = setInterval(() => this.giveBackExpired(), leaseMs / 2).unref();
  }

  /** Takes a token from the bucket of a subject. Throws `access_unavailable` if the database cannot be queried. */
  take(subject: string, rate: Rate): Promise<Decision> | Decision {
    const bucket = this.#bucketOf(subject, rate);
    const now = this.#parts.now();
    if (bucket.tokens > 0 && now < bucket.leasedUntil) {
      bucket.tokens--;
      return decision(bucket, now, true);
    }
    if (bucket.tokens > 0) this.#giveBack(bucket);
    if (now < bucket.emptyUntil) return decision(bucket, now, false);
    return new Promise((resolve, reject) => {
      bucket.waiting.push({ resolve, reject });
      this.#ask(bucket);
    });
  }

  /** Returns the unused tokens of all leases. No tokens may be taken afterwards. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    for (const bucket of this.#leased) this.#giveBack(bucket);
    while (this.#running !== null) await this.#running;
  }

  /** Returns the unused tokens of expired leases. */
  giveBackExpired(): void {
    const now = this.#parts.now();
    for (const bucket of this.#leased) if (now >= bucket.leasedUntil) this.#giveBack(bucket);
  }

  #giveBack(bucket: Bucket): void {
    this.#leased.delete(bucket);
    if (bucket.tokens === 0) return;
    // the lease had more tokens than were needed, so the next lease is smaller
    bucket.chunk = Math.max(1, Math.floor(bucket.chunk / 2));
    bucket.givenBack += bucket.tokens;
    bucket.tokens = 0;
    this.#ask(bucket);
  }

  #bucketOf(subject: string, rate: Rate): Bucket {
    const known = this.#buckets.get(subject);
    if (known !== undefined) {
      known.rate = rate;
      // insert the bucket again, because the map is ordered by last use
      this.#buckets.delete(subject);
      this.#buckets.set(subject, known);
      return known;
    }
    const bucket: Bucket = {
      subject,
      rate,
      tokens: 0,
      leasedUntil: 0,
      emptyUntil: 0,
      chunk: 1,
      level: rate.burst,
      levelAt: this.#parts.now(),
      givenBack: 0,
      isAsked: false,
      waiting: [],
    };
    this.#buckets.set(subject, bucket);
    if (this.#buckets.size > bucketsMax) this.#forgetOldest();
    return bucket;
  }

  #forgetOldest(): void {
    const [oldest] = this.#buckets.values();
    // keep the bucket, because with a second bucket a statement could contain the subject twice
    if (oldest === undefined || oldest.isAsked || this.#asking.has(oldest)) return;
    this.#buckets.delete(oldest.subject);
    this.#leased.delete(oldest);
  }

  #ask(bucket: Bucket): void {
    this.#asking.add(bucket);
    this.#running ??= this.#run();
  }

  /** Runs one statement at a time. Subjects that need tokens while it runs share the next statement. */
  async #run(): Promise<void> {
    // wait, so that all requests of this turn of the event loop share one statement
    await Promise.resolve();
    while (this.#asking.size > 0) {
      const buckets = [...this.#asking].filter((bucket) => this.#serveFromLease(bucket));
      this.#asking.clear();
      if (buckets.length > 0) await this.#askFor(buckets);
    }
    this.#running = null;
  }

  /**
   * Serves the requests that arrived while a lease was being fetched. Returns true if the database must be queried
   * again.
   */
  #serveFromLease(bucket: Bucket): boolean {
    const now = this.#parts.now();
    if (now < bucket.leasedUntil) {
      const served = bucket.waiting.splice(0, bucket.tokens);
      bucket.tokens -= served.length;
      for (const { resolve } of served) resolve(decision(bucket, now, true));
    }
    // return the unused tokens of the last lease first, so that a new lease does not add to them
    if (bucket.waiting.length > 0) this.#giveBack(bucket);
    return bucket.waiting.length > 0 || bucket.givenBack > 0;
  }

  async #askFor(buckets: readonly Bucket[]): Promise<void> {
    const asked = buckets.map((bucket) => {
      const ask = askOf(bucket, this.#parts.now());
      const waiting = bucket.waiting.splice(0);
      bucket.givenBack = 0;
      bucket.isAsked = true;
      return { bucket, ask, waiting };
    });
    let grants: ReadonlyMap<string, LeaseGrant>;
    try {
      const answer = await this.#parts.lease(asked.map(({ ask }) => ask));
      grants = new Map(answer.map((grant) => [grant.subject, grant]));
    } catch (error) {
      // if the statement fails, returned tokens are lost, so fewer requests are allowed, never more
      const reason = new AppError(
        'access_unavailable',
        'The limit of requests cannot be checked now.',
        {},
        error,
      );
      for (const { waiting } of asked) for (const { reject } of waiting) reject(reason);
      return;
    } finally {
      for (const bucket of buckets) bucket.isAsked = false;
    }
    const now = this.#parts.now();
    for (const { bucket, waiting } of asked) {
      const grant = grants.get(bucket.subject);
      if (grant === undefined) throw new Error(`no answer for ${bucket.subject}`);
      spend(bucket, waiting, grant, now);
      if (bucket.tokens > 0) this.#leased.add(bucket);
    }
  }
}

/**
 * Requests one token for each waiting request, and in advance the tokens that a steady client needs until the lease
 * ends.
 */
function askOf(bucket: Bucket, now: number): LeaseAsk {
  const waiting = bucket.waiting.length;
  if (waiting > 0 && now < bucket.leasedUntil) {
    // the last lease was used up before its end, so the next lease is larger
    bucket.chunk = Math.min(leaseCap(bucket.rate), bucket.chunk * 2);
  }
  return {
    subject: bucket.subject,
    perSecond: bucket.rate.burst / bucket.rate.perSeconds,
    burst: bucket.rate.burst,
    wanted: waiting === 0 ? 0 : waiting + Math.min(bucket.chunk, leaseCap(bucket.rate)) - 1,
    givenBack: bucket.givenBack,
  };
}

function spend(
  bucket: Bucket,
  waiting: Bucket['waiting'],
  { granted, level }: LeaseGrant,
  now: number,
): void {
  bucket.level = level;
  bucket.levelAt = now;
  if (waiting.length === 0) return;
  const served = Math.min(granted, waiting.length);
  bucket.tokens = granted - served;
  bucket.leasedUntil = now + leaseMs;
  if (served < waiting.length || (bucket.tokens === 0 && level < 1)) {
    bucket.emptyUntil = now + (1 - level) / perMs(bucket.rate);
  }
  for (const [index, { resolve }] of waiting.entries()) resolve(decision(bucket, now, index < served));
}

function decision(bucket: Bucket, now: number, isAllowed: boolean): Decision {
  const { rate } = bucket;
  const refilled = bucket.level + (now - bucket.levelAt) * perMs(rate);
  const left = Math.min(rate.burst, refilled + bucket.tokens);
  return {
    isAllowed,
    rate,
    remaining: isAllowed ? Math.floor(left) : 0,
    resetMs: Math.max(0, (rate.burst - left) / perMs(rate)),
    retryAfterMs: isAllowed ? 0 : Math.max(1, bucket.emptyUntil - now),
  };
}

/** Tokens that flow in per millisecond. */
function perMs({ burst, perSeconds }: Rate): number {
  return burst / (perSeconds * 1000);
}
