import assert from 'node:assert/strict';
import type pg from 'pg';
import { parseAllowedDomains } from '#accounts/allowed-domains.ts';
import { KeyDirectory } from '#accounts/key-directory.ts';
import { forgetFullBuckets, lease } from '#accounts/lease.store.ts';
import { parseRate, type Rate } from '#accounts/rate.ts';
import { RateLimiter } from '#accounts/rate-limiter.ts';
import { SearchAccess } from '#accounts/search-access.ts';
import { UnknownKeys } from '#accounts/unknown-keys.ts';
import { addUsage } from '#accounts/usage.store.ts';
import { UsageCounter } from '#accounts/usage-counter.ts';
import type { CommandContext } from '#src/app/command-context.ts';
import { openAnsweringPool } from '#src/app/database/answering-pool.ts';
import type { AnsweringDatabase } from '#src/app/database/database.ts';

/**
 * Maximum number of connections: one for leases, and one for keys and counts. They are separate so that they do not
 * wait for searches.
 */
const connectionsMax = 2;
/**
 * How long a statement may take, in ms. Each statement looks up a few rows, so a slower statement means that the server
 * is in trouble, and the request is refused.
 */
const statementTimeoutMs = 2000;
/**
 * How often full buckets are deleted, in ms. Most buckets are full again a minute after their last use. Rows of IP
 * addresses that searched once therefore stay for some minutes.
 */
const forgetEveryMs = 120_000;

/**
 * Decides who may search, and how often, by the settings. Runs for the life of the process. Reports its connections
 * with `watchPool`.
 */
export function openAccess(
  { config, lifecycle, logger }: CommandContext,
  database: AnsweringDatabase,
  watchPool: (name: string, pool: pg.Pool) => void,
): SearchAccess {
  const log = logger.child({ part: 'access' });
  const pool = openAnsweringPool({ lifecycle, log }, database, {
    applicationName: 'satscribe access',
    part: 'access connections',
    max: connectionsMax,
    statementTimeoutMs,
  });
  watchPool('access', pool);
  const limiter = new RateLimiter({ lease: (asks) => lease(pool, asks) });
  lifecycle.add('rate limits', () => limiter.close());
  const usage = new UsageCounter({
    write: (lines, lastUsed) => addUsage(pool, lines, lastUsed),
    onError: (error) => log.warn({ err: error }, 'the usage of keys could not be written; this is retried'),
  });
  lifecycle.add('usage of keys', () => usage.close());
  const forgetting = setInterval(() => {
    forgetFullBuckets(pool).catch((error: unknown) =>
      log.debug({ err: error }, 'old rate limits could not be removed'),
    );
  }, forgetEveryMs);
  lifecycle.add('removal of old rate limits', () => clearInterval(forgetting));
  const { searchAccess: mode, searchAllowedDomains = '', publicUrl } = config;
  if (mode === 'restricted') log.info('searches need a key or a listed domain (docs/access.md)');
  if (mode === 'keys') log.info('searches need a key, even from our pages (docs/access.md)');
  return new SearchAccess({
    mode,
    domains: parseAllowedDomains(searchAllowedDomains).domains,
    ownHost: publicUrl === undefined ? null : new URL(publicUrl).host,
    buckets: {
      search: rateOf(config.searchAddressRate),
      build: rateOf(config.buildAddressRate),
      create: rateOf(config.orderRate),
      orders: rateOf(config.orderRate) === null ? null : rateOf(orderReadRate),
      price: rateOf(config.orderRate) === null ? null : rateOf(priceRate),
      market: rateOf(marketRate),
    },
    keys: new KeyDirectory(pool),
    unknownKeys: new UnknownKeys(rateOf(config.unknownKeyRate)),
    limiter,
    usage,
  });
}

/** Limit on reads of orders, per minute and at once. The public service has the same limit. */
const orderReadRate = '300';
/** Limit on price requests, per minute and at once. */
const priceRate = '120';

/** Limit on reads of the market, per minute and at once. */
const marketRate = '600';

/** Parses the text of a rate. The text was already checked with the settings. */
function rateOf(text: string): Rate | null {
  const read = parseRate(text);
  assert(read !== null, `${text} is no rate`);
  return read.rate;
}
