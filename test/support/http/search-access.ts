import type pg from 'pg';
import { insertAccount, insertKey, type StoredKey } from '#accounts/account.store.ts';
import { parseAllowedDomains } from '#accounts/allowed-domains.ts';
import { newApiKey, type Scope } from '#accounts/api-key.ts';
import { KeyDirectory } from '#accounts/key-directory.ts';
import { lease } from '#accounts/lease.store.ts';
import { parseRate, type Rate } from '#accounts/rate.ts';
import { RateLimiter } from '#accounts/rate-limiter.ts';
import { type AccessMode, SearchAccess } from '#accounts/search-access.ts';
import { UnknownKeys } from '#accounts/unknown-keys.ts';
import { addUsage } from '#accounts/usage.store.ts';
import { UsageCounter } from '#accounts/usage-counter.ts';
import { type KeyTerms, usualTerms } from '#kernel/contracts/asking-key.ts';

export interface AccessOptions {
  readonly mode?: AccessMode;
  readonly domains?: string;
  readonly ownHost?: string;
  /** A rate, written like the setting. Default: no limit. */
  readonly addressRate?: string;
  /** The rate of scans and of transactions made for clients. Default: no limit. */
  readonly buildRate?: string;
  readonly priceRate?: string;
  /** The rate of unknown keys. Default: that of a service. */
  readonly unknownKeyRate?: string;
  /** How long keys are cached, in ms. */
  readonly now?: () => number;
}

export interface TestAccess {
  readonly access: SearchAccess;
  readonly usage: UsageCounter;
  close(): Promise<void>;
}

const rateOf = (text: string): Rate | null => parseRate(text)?.rate ?? null;

/** Access to searches as in the service, with a test's database. */
export function testAccess(pool: pg.Pool, options: AccessOptions = {}): TestAccess {
  const limiter = new RateLimiter({ lease: (asks) => lease(pool, asks) });
  const usage = new UsageCounter({
    write: (lines, lastUsed) => addUsage(pool, lines, lastUsed),
    onError: (error) => {
      throw error;
    },
  });
  const access = new SearchAccess({
    mode: options.mode ?? 'restricted',
    domains: parseAllowedDomains(options.domains ?? '').domains,
    ownHost: options.ownHost ?? null,
    buckets: {
      search: rateOf(options.addressRate ?? '0'),
      build: rateOf(options.buildRate ?? '0'),
      create: null,
      orders: null,
      market: null,
      price: rateOf(options.priceRate ?? '0'),
    },
    keys: new KeyDirectory(pool, options.now),
    unknownKeys: new UnknownKeys(rateOf(options.unknownKeyRate ?? '60'), options.now),
    limiter,
    usage,
  });
  return {
    access,
    usage,
    close: async () => {
      await limiter.close();
      await usage.close();
    },
  };
}

/** Creates an account and returns its key. */
export async function giveKey(
  pool: pg.Pool,
  {
    scopes = ['search'],
    rate = '600',
    terms = {},
  }: { scopes?: readonly Scope[]; rate?: string; terms?: Partial<KeyTerms> } = {},
): Promise<StoredKey & { key: string }> {
  const { key, prefix, hash } = newApiKey();
  const account = `account-of-${prefix}`;
  await insertAccount(pool, account);
  return {
    ...(await insertKey(
      pool,
      { prefix, hash },
      { account, scopes, rate: parseRate(rate)?.rate ?? null, terms: { ...usualTerms, ...terms } },
    )),
    key,
  };
}
