import type { Rate } from './rate.ts';
import type { Decision, RateLimiter } from './rate-limiter.ts';

/**
 * Names of the limits that routes can use. The rate of a bucket applies to IP addresses without a key. A key has its
 * own rate.
 */
export type BucketName = 'search' | 'build' | 'price' | 'create' | 'orders' | 'market';

/** The rate of each bucket for one IP address. `null` if the bucket has no limit. */
export type RateBuckets = Readonly<Record<BucketName, Rate | null>>;

/**
 * Takes a token from a client's share of a bucket. Returns `null` if the bucket has no limit. Throws
 * `access_unavailable`.
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

// a client has a separate subject for each bucket, even if two buckets have the same rate
function subjectOf(bucket: BucketName, client: string): string {
  return `${bucket} ${client}`;
}
