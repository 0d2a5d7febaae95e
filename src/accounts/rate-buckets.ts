import type { Rate } from './rate.ts';
import type { Decision, RateLimiter } from './rate-limiter.ts';

/** The limits that routes can name. A key has its own rate; the bucket's rate applies to addresses. */
export type BucketName = 'search' | 'build' | 'price' | 'create' | 'orders' | 'market';

/** The rate of each bucket per address; null: no limit. */
export type RateBuckets = Readonly<Record<BucketName, Rate | null>>;

/**
 * Takes a token from a client's share of a bucket; null where the bucket has no limit. Throws `access_unavailable`.
 */
export function takeFrom(
  limiter: RateLimiter,
  buckets: RateBuckets,
  bucket: BucketName,
  client: string,
): Promise<Decision> | Decision | null {
  const rate = buckets[bucket];
  return rate === null ? null : limiter.take(subjectOf(bucket, client), rate);
}

// each bucket of a client is separate, whatever the rates
function subjectOf(bucket: BucketName, client: string): string {
  return `${bucket} ${client}`;
}
