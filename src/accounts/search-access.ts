import { type AskingKey, noKey } from '#kernel/contracts/asking-key.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { type AllowedDomains, callingSite } from './allowed-domains.ts';
import { apiKeyHash, keyPrefix, type Scope } from './api-key.ts';
import { clientOf } from './client-address.ts';
import { type GivenKey, givenKey } from './given-key.ts';
import type { KeyDirectory } from './key-directory.ts';
import type { KeyFacts } from './key-look-ups.ts';
import { rateInWords } from './rate.ts';
import { type BucketName, type RateBuckets, takeFrom } from './rate-buckets.ts';
import type { Decision, RateLimiter } from './rate-limiter.ts';
import type { UnknownKeys } from './unknown-keys.ts';
import type { UsageCounter } from './usage-counter.ts';

/**
 * Modes of access to searches. `open`: a key is optional. `restricted`: a key, or a page of a listed domain or of ours.
 * `keys`: a key, from our own pages too.
 */
export type AccessMode = 'open' | 'restricted' | 'keys';

/**
 * The kind of client. `program`: a client of the API. `page`: one of our pages that searches before it is sent.
 * `anybody`: needs no key, but is limited.
 */
export type Asker = 'program' | 'page' | 'anybody';

export interface SearchAccessParts {
  readonly mode: AccessMode;
  readonly domains: AllowedDomains;
  /** The host of our own pages, with its port; null: any host that a request names. */
  readonly ownHost: string | null;
  /** The limits of an address without a key. */
  readonly buckets: RateBuckets;
  readonly keys: KeyDirectory;
  readonly unknownKeys: UnknownKeys;
  readonly limiter: RateLimiter;
  readonly usage: UsageCounter;
}

/** The parts of a request that decide its access. */
export interface AccessRequest {
  /** `x-api-key`. */
  readonly apiKey: string | undefined;
  readonly authorization: string | undefined;
  /** `Cookie`: may hold the key of a person who searches with our pages. */
  readonly cookie: string | undefined;
  readonly origin: string | undefined;
  readonly referer: string | undefined;
  /** `Sec-Fetch-Site`. */
  readonly fetchSite: string | undefined;
  readonly host: string | undefined;
  /** IP address of the client. */
  readonly address: string;
  /** The group of routes that are counted together. */
  readonly endpoints: string;
  /** The bucket that a request without a key takes a token of. */
  readonly bucket: BucketName;
  /** The scope that a key must have; null: any valid key will do. */
  readonly scope: Scope | null;
  readonly asker: Asker;
}

export interface Admission {
  /** Null: allowed. */
  readonly refusal: AppError | null;
  /** The limit that the request counted towards; null: no limit. */
  readonly rate: Decision | null;
  /** The valid key that the request sent in a header, whatever its scopes. A key of a cookie does not count. */
  readonly key: AskingKey;
}

/**
 * Decides whether a request is allowed: it needs a key with the scope of its route. Open searches need no key.
 * Restricted searches need one, except from a page of a listed domain. In the mode `keys`, every search needs one. The
 * rate of the key, or of the address without a key, always applies. Cheap checks come first: the form of a key, then
 * the remembered keys, then the database, which is asked for many keys at once. Limits on unknown keys are never
 * applied to a valid one. Throws `access_unavailable`.
 */
export class SearchAccess {
  readonly #parts: SearchAccessParts;

  constructor(parts: SearchAccessParts) {
    this.#parts = parts;
  }

  async decide(request: AccessRequest): Promise<Admission> {
    const { scope, apiKey, authorization } = request;
    const isOpen = this.#isOpen(request);
    const needsNone = isOpen || this.#comesFromListed(request);
    // other sites can make a browser send a cookie, so its key allows nothing but reading
    const cookie = scope === 'search' ? request.cookie : undefined;
    const given = givenKey(apiKey, authorization, cookie);
    // if a key is optional, an invalid one counts as no key, and so do two different ones
    if (given.kind === 'two' && !isOpen) return refuse(twoKeys());
    if (given.kind === 'one') {
      const isOptional = given.isCookie ? needsNone : isOpen;
      return this.#decideByKey(given, request, { isOptional, needsNone });
    }
    return needsNone ? this.#withinAddressRate(request) : refuse(missingKey(request));
  }

  /**
   * The valid key in a person's browser, for the page about it. `invalid`: the browser has another text. Throws
   * `rate_limited` for too many unknown keys, and `access_unavailable`.
   */
  async keyOfCookie(cookie: string | undefined, address: string): Promise<KeyFacts | 'none' | 'invalid'> {
    const given = givenKey(undefined, undefined, cookie);
    if (given.kind !== 'one') return 'none';
    const { key, admission } = await this.#keyOf(given.key, { address });
    if (key === null && admission.refusal?.code === 'rate_limited') throw admission.refusal;
    return key ?? 'invalid';
  }

  async #decideByKey(
    given: Extract<GivenKey, { kind: 'one' }>,
    request: AccessRequest,
    { isOptional, needsNone }: { readonly isOptional: boolean; readonly needsNone: boolean },
  ): Promise<Admission> {
    const { key, admission } = await this.#keyOf(given.key, request);
    const sent = key === null || given.isCookie ? noKey : key;
    if (key !== null && hasScope(key, request.scope))
      return { ...(await this.#withinKeyRate(key, request)), key: sent };
    // an old cookie must not forbid a page what it may do without one
    if (!isOptional) return key === null ? admission : refuse(wrongScope(request.scope, key.scopes));
    return needsNone
      ? { ...(await this.#withinAddressRate(request)), key: sent }
      : refuse(missingKey(request));
  }

  #isOpen({ scope, asker }: AccessRequest): boolean {
    const { mode } = this.#parts;
    if (asker === 'anybody') return true;
    return scope === 'search' && (mode === 'open' || (asker === 'page' && mode === 'restricted'));
  }

  async #withinKeyRate({ id, rate }: KeyFacts, { endpoints }: AccessRequest): Promise<Admission> {
    const decision = rate === null ? null : await this.#parts.limiter.take(`key ${id}`, rate);
    this.#parts.usage.count(id, endpoints, decision?.isAllowed === false ? 'refused' : 'requests');
    return limited(decision, 'this key');
  }

  async #withinAddressRate({ address, bucket }: AccessRequest): Promise<Admission> {
    const { buckets, limiter } = this.#parts;
    return limited(await takeFrom(limiter, buckets, bucket, clientOf(address)), 'this address');
  }

  /** The valid key with a hash that a request names; null: there is no such key. Throws `access_unavailable`. */
  keyWithHash(hash: Buffer): Promise<KeyFacts | null> {
    return this.#parts.keys.find(hash, true);
  }

  /** The key of the request, or the refusal if it has no valid one. */
  async #keyOf(
    given: string,
    request: Pick<AccessRequest, 'address'>,
  ): Promise<{ key: KeyFacts | null; admission: Admission }> {
    const { keys, unknownKeys } = this.#parts;
    const unknown = refuse(unknownKey());
    const hash = apiKeyHash(given);
    if (hash === null) return { key: null, admission: unknown };
    const client = clientOf(request.address);
    const key = await keys.find(hash, unknownKeys.isFlood(client));
    if (key !== null) return { key, admission: unknown };
    const decision = unknownKeys.count(client, keyPrefix(given));
    const isRefused = decision?.isAllowed === false;
    return { key: null, admission: isRefused ? limited(decision, 'an unknown key') : unknown };
  }

  /**
   * Whether a browser reports a page of a listed domain, or one of ours. Programs can claim the same: this is for
   * pages that cannot keep a key secret, and the limits by address apply to them. Only searches are allowed to pages.
   */
  #comesFromListed({ scope, origin, referer, fetchSite, host }: AccessRequest): boolean {
    if (scope !== 'search' || this.#parts.mode === 'keys') return false;
    // our own pages send no Referer, and browsers send no Origin to the page's own site
    if (fetchSite === 'same-origin') return true;
    const site = callingSite(origin, referer);
    if (site === null) return false;
    return site.host === (this.#parts.ownHost ?? host) || this.#parts.domains.allows(site.hostname);
  }
}

/** The requests of a scope, as messages call them. */
const requestsOf: Readonly<Record<Scope, string>> = {
  search: 'searches',
  orders: 'orders',
  tokenpay: 'token payments',
  'tokenpay-withdraw': 'withdrawals',
  admin: 'requests of operators',
};

const hasScope = ({ scopes }: KeyFacts, scope: Scope | null): boolean =>
  scope === null || scopes.includes(scope);

const requestsWith = (scope: Scope | null): string =>
  scope === null ? 'requests to this path' : requestsOf[scope];

function refuse(refusal: AppError): Admission {
  return { refusal, rate: null, key: noKey };
}

function limited(rate: Decision | null, whose: string): Admission {
  if (rate === null || rate.isAllowed) return { refusal: null, rate, key: noKey };
  const seconds = Math.ceil(rate.retryAfterMs / 1000);
  const message = `too many requests: ${whose} may make ${rateInWords(rate.rate)}; again in ${seconds} s`;
  return { refusal: new AppError('rate_limited', message), rate, key: noKey };
}

const howToSend = 'send it as x-api-key or as Authorization: Bearer';

function missingKey({ scope, origin, referer }: AccessRequest): AppError {
  const site = callingSite(origin, referer);
  const reason =
    site === null
      ? `${requestsWith(scope)} need a key: ${howToSend}`
      : `${requestsWith(scope)} from pages of ${site.hostname.slice(0, 100)} need a key: ${howToSend}`;
  return new AppError('key_missing', reason);
}

// the same for unknown and revoked keys, so that a refusal does not reveal which kind it was
function unknownKey(): AppError {
  return new AppError('key_refused', 'this key is not valid here');
}

function twoKeys(): AppError {
  return new AppError('key_ambiguous', 'x-api-key and Authorization: Bearer hold different keys: send one');
}

function wrongScope(scope: Scope | null, scopes: readonly Scope[]): AppError {
  return new AppError('key_scope', `this key is for ${scopes.join(', ')}, not for ${requestsWith(scope)}`);
}
