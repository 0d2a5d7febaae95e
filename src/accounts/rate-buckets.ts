import type { Rate } from './rate.ts';
import type { Decision, RateLimiter } from './rate-limiter.ts';

/** The limits that routes can name. A key brings the rate that it was made with, and the bucket's holds for addresses. */
export type BucketName = 'search' | 'unknown-keys';

/** The rate of each bucket for each address; null: no limit. */
export type RateBuckets = Readonly<Record<BucketName, Rate | null>>;

/** Takes a token of a client's part of a bucket; null where the bucket has no limit. Throws `access_unavailable`. */
export function takeFrom(
  limiter: RateLimiter,
  buckets: RateBuckets,
  bucket: BucketName,
  client: string,
): Promise<Decision> | Decision | null {
  const rate = buckets[bucket];
  return rate === null ? null : limiter.take(subjectOf(bucket, client), rate);
}

/** What the next `takeFrom` would say, where it is known without asking that it is a refusal; else null. */
export function knownRefusal(
  limiter: RateLimiter,
  buckets: RateBuckets,
  bucket: BucketName,
  client: string,
): Decision | null {
  const rate = buckets[bucket];
  return rate === null ? null : limiter.refusal(subjectOf(bucket, client), rate);
}

// buckets of one client are apart, whatever their rates
function subjectOf(bucket: BucketName, client: string): string {
  return `${bucket} ${client}`;
}
