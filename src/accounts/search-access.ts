import { AppError } from '#kernel/errors/app-error.ts';
import { type AllowedDomains, callingSite } from './allowed-domains.ts';
import { apiKeyHash, type Scope } from './api-key.ts';
import { clientOf } from './client-address.ts';
import type { KeyDirectory, KeyFacts } from './key-directory.ts';
import type { Decision, RateLimiter } from './rate-limiter.ts';
import type { UsageCounter } from './usage-counter.ts';

/**
 * Keys that nobody was given, from one address in a minute. Nobody guesses one of 160 bits: this keeps those who try, and programs
 * with an old key, from costing a look into the database each time.
 */
export const unknownKeysPerMinute = 60;

export interface SearchAccessParts {
  /** `open`: a key is not needed. */
  readonly mode: 'open' | 'restricted';
  readonly domains: AllowedDomains;
  /** Host of our own pages with its port; null: whatever host a request names. */
  readonly ownHost: string | null;
  /** Requests a minute of an address without a key; 0: no limit. */
  readonly addressRate: number;
  readonly keys: KeyDirectory;
  readonly limiter: RateLimiter;
  readonly usage: UsageCounter;
}

/** What of a request decides about it. */
export interface AccessRequest {
  /** `x-api-key`. */
  readonly key: string | undefined;
  readonly origin: string | undefined;
  readonly referer: string | undefined;
  /** `Sec-Fetch-Site`. */
  readonly fetchSite: string | undefined;
  readonly host: string | undefined;
  /** IP address of the client. */
  readonly address: string;
  /** The routes that are counted together. */
  readonly endpoints: string;
  /** False: a page of ours, which limits hold for and nothing else. */
  readonly needsRight: boolean;
}

export interface Admission {
  /** Null: go on. */
  readonly refusal: AppError | null;
  /** The limit that the request counted towards; null: none. */
  readonly rate: Decision | null;
}

/**
 * Decides whether a search may be made: a key with the scope `search`, or a page of a listed domain, where searches are restricted;
 * within the rate of the key, or of the address where there is none. What costs nothing is looked at first: the form of a key before
 * the memory, that before the limit on unknown keys, that before the database. Throws `access_unavailable`.
 */
export class SearchAccess {
  private readonly parts: SearchAccessParts;

  constructor(parts: SearchAccessParts) {
    this.parts = parts;
  }

  async decide(request: AccessRequest): Promise<Admission> {
    const isOpen = this.parts.mode === 'open' || !request.needsRight;
    const given = request.key?.trim() ?? '';
    if (given !== '') {
      const { key, admission } = await this.keyOf(given, request);
      if (key?.scope === searchScope) return this.withinKeyRate(key, request);
      // where none is needed one that is not good is none
      if (!isOpen) return key === null ? admission : refuse(wrongScope(key.scope));
    }
    if (!isOpen && !this.comesFromListed(request)) return refuse(missingKey(request));
    return this.withinAddressRate(request);
  }

  private async withinKeyRate(
    { id, ratePerMinute }: KeyFacts,
    { endpoints }: AccessRequest,
  ): Promise<Admission> {
    const rate = await this.parts.limiter.take(`key ${id}`, ratePerMinute);
    this.parts.usage.count(id, endpoints, rate.isAllowed ? 'requests' : 'refused');
    return limited(rate, 'this key');
  }

  private async withinAddressRate({ address }: AccessRequest): Promise<Admission> {
    const { addressRate, limiter } = this.parts;
    if (addressRate === 0) return { refusal: null, rate: null };
    return limited(await limiter.take(`address ${clientOf(address)}`, addressRate), 'this address');
  }

  /** The key, or what to answer where there is none such. */
  private async keyOf(
    given: string,
    request: AccessRequest,
  ): Promise<{ key: KeyFacts | null; admission: Admission }> {
    const { keys, limiter } = this.parts;
    const unknown = refuse(unknownKey());
    const hash = apiKeyHash(given);
    if (hash === null) return { key: null, admission: unknown };
    const guesser = `unknown keys ${clientOf(request.address)}`;
    const remembered = keys.remembered(hash);
    const mayBeAsked = remembered !== undefined || keys.wasGood(hash);
    const refusal = mayBeAsked ? null : limiter.refusal(guesser, unknownKeysPerMinute);
    if (refusal !== null) return { key: null, admission: limited(refusal, 'unknown keys') };
    const key = await (remembered ?? keys.find(hash));
    if (key !== null) return { key, admission: unknown };
    const rate = await limiter.take(guesser, unknownKeysPerMinute);
    return { key: null, admission: rate.isAllowed ? unknown : limited(rate, 'unknown keys') };
  }

  /**
   * Whether a browser says that a page of a listed domain, or of ours, asks. Whoever writes a program can say so, too: this is for
   * pages that cannot keep a key secret, and limits by address hold for them.
   */
  private comesFromListed({ origin, referer, fetchSite, host }: AccessRequest): boolean {
    // our own pages name no Referer, and a browser no Origin to where a page is from
    if (fetchSite === 'same-origin') return true;
    const site = callingSite(origin, referer);
    if (site === null) return false;
    return site.host === (this.parts.ownHost ?? host) || this.parts.domains.allows(site.hostname);
  }
}

const searchScope: Scope = 'search';

function refuse(refusal: AppError): Admission {
  return { refusal, rate: null };
}

function limited(rate: Decision, whose: string): Admission {
  if (rate.isAllowed) return { refusal: null, rate };
  const seconds = Math.ceil(rate.retryAfterMs / 1000);
  const message = `too many requests: ${whose} may make ${rate.limit} a minute; again in ${seconds} s`;
  return { refusal: new AppError('rate_limited', message), rate };
}

function missingKey({ origin, referer }: AccessRequest): AppError {
  const site = callingSite(origin, referer);
  const reason =
    site === null
      ? 'searches need a key: send it as x-api-key'
      : `searches from pages of ${site.hostname.slice(0, 100)} need a key: send it as x-api-key`;
  return new AppError('key_missing', reason);
}

// the same for a key that never was and one that was revoked: nobody learns which it is
function unknownKey(): AppError {
  return new AppError('key_refused', 'x-api-key is no key that is valid here');
}

function wrongScope(scope: Scope): AppError {
  return new AppError('key_scope', `this key is for ${scope}, not for searches`);
}
