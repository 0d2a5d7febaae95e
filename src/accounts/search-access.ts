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
 * Modes of access to searches:
 * - `open`: a key is optional.
 * - `restricted`: a search needs a key, or must come from a page of a listed domain or from one of our pages.
 * - `keys`: every search needs a key, even from our own pages.
 */
export type AccessMode = 'open' | 'restricted' | 'keys';

/**
 * The kind of client:
 * - `program`: a client of the API.
 * - `owner`: a client of the API that reads or changes things of its key.
 * - `page`: one of our pages that makes a search on the server before the page is sent.
 * - `anybody`: a client that needs no key but is limited.
 */
export type Asker = 'program' | 'owner' | 'page' | 'anybody';

export interface SearchAccessParts {
  readonly mode: AccessMode;
  readonly domains: AllowedDomains;
  /** The host of our own pages, with its port. If it is `null`, the host that a request names is used. */
  readonly ownHost: string | null;
  /** The limits of an IP address without a key. */
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
  /** `Cookie`, which may contain the key of a person who searches with our pages. */
  readonly cookie: string | undefined;
  readonly origin: string | undefined;
  readonly referer: string | undefined;
  /** `Sec-Fetch-Site`. */
  readonly fetchSite: string | undefined;
  readonly host: string | undefined;
  /** IP address of the client. */
  readonly address: string;
  /** The group of routes under which the usage of a key is counted. */
  readonly endpoints: string;
  /** The bucket from which a request without a key takes a token. */
  readonly bucket: BucketName;
  /** The scope that a key must have. `null` if any valid key is enough. */
  readonly scope: Scope | null;
  readonly asker: Asker;
}

export interface Admission {
  /** The refusal. `null` if the request is allowed. */
  readonly refusal: AppError | null;
  /** The state of the limit after this request. `null` if the request has no limit. */
  readonly rate: Decision | null;
  /** The valid key that the request sent in a header, whatever its scopes. A key in a cookie is ignored here. */
  readonly key: AskingKey;
}

/**
 * Decides whether a request is allowed. A request needs a key with the scope of its route. In the mode `open`, searches
 * need no key. In the mode `restricted`, searches need a key unless they come from a page of a listed domain. In the
 * mode `keys`, every search needs a key.
 *
 * The rate of the key, or of the IP address if there is no key, always applies. Cheap checks come first: the form of
 * the key, then the remembered keys, then the database, where one query looks up many keys. Limits on unknown keys are
 * never applied to a valid key. Throws `access_unavailable`.
 */
export class SearchAccess {
  readonly #parts: SearchAccessParts;

  constructor(parts: SearchAccessParts) {
    this.#parts = parts;
  }

  async decide(request: AccessRequest): Promise<Admission> {
    const { scope, apiKey, authorization, asker } = request;
    const isOpen = this.#isOpen(request);
    const needsNone = isOpen || this.#comesFromListed(request);
    // other sites can make a browser send our cookie, so a key in a cookie allows only reads
    const cookie = scope === 'search' && asker !== 'owner' ? request.cookie : undefined;
    const given = givenKey(apiKey, authorization, cookie);
    // if a key is optional, an invalid key is ignored, and so are two different keys
    if (given.kind === 'two' && !isOpen) return refuse(twoKeys());
    if (given.kind === 'one') {
      const isOptional = given.isCookie ? needsNone : isOpen;
      return this.#decideByKey(given, request, { isOptional, needsNone });
    }
    return needsNone ? this.#withinAddressRate(request) : refuse(missingKey(request));
  }

  /**
   * Returns the valid key in a person's browser, for the page about that key. Returns `invalid` if the cookie has a
   * text that is not a valid key. Throws `rate_limited` if the address sent too many unknown keys. Throws
   * `access_unavailable`.
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
    // if a key is optional, an old cookie must not forbid a page the searches that it may do without a key
    if (!isOptional) return key === null ? admission : refuse(wrongScope(request.scope, key.scopes));
    return needsNone
      ? { ...(await this.#withinAddressRate(request)), key: sent }
      : refuse(missingKey(request));
  }

  #isOpen({ scope, asker }: AccessRequest): boolean {
    const { mode } = this.#parts;
    if (asker === 'anybody') return true;
    if (asker === 'owner') return false;
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

  /**
   * Returns the valid key whose hash a request names, or `null` if there is no such key. Throws `access_unavailable`.
   */
  keyWithHash(hash: Buffer): Promise<KeyFacts | null> {
    return this.#parts.keys.find(hash, true);
  }

  /** Returns the valid key of the request, or the refusal if the key is not valid. */
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
   * Whether a browser reports that the request comes from a page of a listed domain or from one of our pages. Programs
   * can send the same headers. The rule exists for pages that cannot keep a key secret, and the limits by IP address
   * apply to them. Pages may only search.
   */
  #comesFromListed({ scope, asker, origin, referer, fetchSite, host }: AccessRequest): boolean {
    if (scope !== 'search' || asker === 'owner' || this.#parts.mode === 'keys') return false;
    // our own pages send no Referer, and browsers send no Origin to the page's own site
    if (fetchSite === 'same-origin') return true;
    const site = callingSite(origin, referer);
    if (site === null) return false;
    return site.host === (this.#parts.ownHost ?? host) || this.#parts.domains.allows(site.hostname);
  }
}

/** Names of the requests of each scope, for messages. */
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
  const message = `too many requests, because ${whose} may make only ${rateInWords(rate.rate)}; try again in ${seconds} s`;
  return { refusal: new AppError('rate_limited', message), rate, key: noKey };
}

const howToSend = 'send the key as x-api-key or as Authorization: Bearer';

function missingKey({ scope, asker, origin, referer }: AccessRequest): AppError {
  if (asker === 'owner') return new AppError('key_missing', `this path needs a key; ${howToSend}`);
  const site = callingSite(origin, referer);
  const reason =
    site === null
      ? `${requestsWith(scope)} need a key; ${howToSend}`
      : `${requestsWith(scope)} from pages of ${site.hostname.slice(0, 100)} need a key; ${howToSend}`;
  return new AppError('key_missing', reason);
}

// Unknown and revoked keys get the same error, so that a refusal does not reveal whether a key existed.
function unknownKey(): AppError {
  return new AppError('key_refused', 'this key is not valid here');
}

function twoKeys(): AppError {
  return new AppError(
    'key_ambiguous',
    'x-api-key and Authorization: Bearer have different keys; send only one of these headers',
  );
}

function wrongScope(scope: Scope | null, scopes: readonly Scope[]): AppError {
  return new AppError('key_scope', `this key is for ${scopes.join(', ')} and not for ${requestsWith(scope)}`);
}
