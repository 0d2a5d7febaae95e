import type { LookupAddress, lookup as lookUp } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { Agent } from 'undici';
import { AppError } from '#kernel/errors/app-error.ts';
import { nameServers } from './name-servers.ts';
import { isPublicAddress } from './public-address.ts';
import { judge, parseTarget, redirectedTo, refused } from './stranger-url.ts';

/** Timeout of a connection, in ms. */
const connectTimeoutMs = 5_000;
/** Maximum number of connections to one host. A slow server then delays only few other requests. */
const connectionsEach = 4;

export interface OutgoingRequest {
  /** Maximum length of the response body, in bytes. The rest is not read. */
  readonly bytesMax: number;
  /** Timeout of the request including its redirects and the response body, in ms. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

export interface OutgoingGet extends OutgoingRequest {
  /**
   * Maximum number of redirects to follow. The URL of each redirect comes from a stranger and is checked like the first
   * URL. A redirect from https to http is refused.
   */
  readonly redirectsMax?: number;
}

export interface OutgoingPost extends OutgoingRequest {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

export interface OutgoingAnswer {
  readonly status: number;
  readonly bytes: Uint8Array;
}

export interface OutgoingOptions {
  /** URLs from the operator's own settings, which may lead to any address. */
  readonly own?: readonly string[];
  /**
   * Whether strangers' URLs may lead to any IP address and port. Names that only this machine knows are then allowed,
   * too.
   */
  readonly allowPrivate?: boolean;
  /** Look-up function for tests. Absent: the name servers are queried, and with `allowPrivate` the system's look-up. */
  readonly lookup?: typeof lookUp;
}

/**
 * Sends guarded requests to servers that strangers name. The URL must be http or https, without user and password, with
 * a port that is used for the web. Only public IP addresses are allowed. A name is resolved once, each of its addresses
 * is checked, and the connection uses one of these addresses. TLS and `Host` still use the name. Redirects are followed
 * only on request, and no proxy is used.
 */
export class OutgoingHttp {
  readonly #own: ReadonlySet<string>;
  readonly #allowsPrivate: boolean;
  readonly #guarded: Agent;
  readonly #free: Agent;

  constructor({ own = [], allowPrivate = false, lookup }: OutgoingOptions = {}) {
    this.#own = new Set(own.map((url) => new URL(url).origin));
    this.#allowsPrivate = allowPrivate;
    const options = { connections: connectionsEach };
    this.#guarded = new Agent({
      ...options,
      connect: { timeout: connectTimeoutMs, lookup: publicLookup(lookup ?? nameServers()) },
    });
    this.#free = new Agent({
      ...options,
      connect: {
        timeout: connectTimeoutMs,
        ...(lookup === undefined ? {} : { lookup: lookup as unknown as LookupFunction }),
      },
    });
  }

  /**
   * Sends a GET request. Throws `url_refused` if the URL must not be requested, `url_unreachable` if no complete
   * response arrives in time, and `url_answer_too_long`.
   */
  async get(
    url: string,
    { bytesMax, timeoutMs, signal, redirectsMax = 0 }: OutgoingGet,
  ): Promise<OutgoingAnswer> {
    const headers = { accept: 'application/json' };
    const endsAt = performance.now() + timeoutMs;
    let target = url;
    for (let redirects = 0; ; redirects++) {
      const leftMs = Math.max(0, Math.ceil(endsAt - performance.now()));
      const request = {
        method: 'GET',
        headers,
        timeoutMs: leftMs,
        signal,
        isRedirect: redirects > 0,
      } as const;
      const answer = await this.#send(target, request, async ({ status, body, location }) => {
        const { bytes, isCut } = await readPieces(body, bytesMax);
        if (redirectsMax > 0 && redirectStatuses.has(status) && location !== null) return { location };
        if (isCut) throw new AppError('url_answer_too_long', `The server sends more than ${bytesMax} bytes.`);
        return { status, bytes };
      });
      if (!('location' in answer)) return answer;
      if (redirects === redirectsMax) throw unreachable(`redirects more than ${redirectsMax} times`);
      target = redirectedTo(answer.location, target);
    }
  }

  /**
   * Sends a body with POST. As soon as the status arrives, the request has succeeded. A response that is too long is
   * cut off. An incomplete or late response is treated as an empty body. Throws `url_refused` and `url_unreachable`.
   */
  post(url: string, { bytesMax, timeoutMs, signal, headers, body }: OutgoingPost): Promise<OutgoingAnswer> {
    const request = { method: 'POST', headers, body, timeoutMs, signal, isRedirect: false } as const;
    return this.#send(url, request, async (answer) => {
      const { bytes } = await readPieces(answer.body, bytesMax).catch(() => ({ bytes: new Uint8Array() }));
      return { status: answer.status, bytes };
    });
  }

  async close(): Promise<void> {
    await Promise.all([this.#guarded.destroy(), this.#free.destroy()]);
  }

  async #send<Read>(
    url: string,
    { method, headers, body, timeoutMs, signal, isRedirect }: SentRequest,
    read: (answer: { status: number; body: AnswerBody; location: string | null }) => Promise<Read>,
  ): Promise<Read> {
    const target = parseTarget(url);
    // a stranger's server must not redirect to the operator's servers
    const isOwn = !isRedirect && this.#own.has(target.url.origin);
    if (!isOwn) judge(target.url, { allowPrivate: this.#allowsPrivate });
    const controller = new AbortController();
    const late = setTimeout(() => controller.abort(), timeoutMs);
    const signals = signal === undefined ? [controller.signal] : [controller.signal, signal];
    try {
      const answer = await (isOwn || this.#allowsPrivate ? this.#free : this.#guarded).request({
        origin: target.url.origin,
        path: target.path,
        method,
        headers: { ...headers, 'accept-encoding': 'identity' },
        body: body ?? null,
        signal: AbortSignal.any(signals),
      });
      const { location } = answer.headers;
      return await read({
        status: answer.statusCode,
        body: answer.body,
        location: typeof location === 'string' ? location : null,
      });
    } catch (error) {
      signal?.throwIfAborted();
      if (controller.signal.aborted) throw unreachable(`gave no complete answer within ${timeoutMs} ms`);
      throw error instanceof AppError ? error : failure(error);
    } finally {
      clearTimeout(late);
    }
  }
}

interface SentRequest {
  readonly method: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
  /** Whether another server's redirect named the URL. */
  readonly isRedirect: boolean;
}

/** Status codes of a redirect, which name the new URL of a resource (RFC 9110, 15.4). */
const redirectStatuses: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

type AnswerBody = AsyncIterable<Uint8Array> & { destroy(): unknown };

/** Reads the body as the server sends it, compressed or not, up to `bytesMax`. The rest is not read. */
async function readPieces(
  body: AnswerBody,
  bytesMax: number,
): Promise<{ bytes: Uint8Array; isCut: boolean }> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of body) {
    length += piece.length;
    pieces.push(piece);
    if (length <= bytesMax) continue;
    body.destroy();
    return { bytes: Buffer.concat(pieces, bytesMax), isCut: true };
  }
  return { bytes: Buffer.concat(pieces), isCut: false };
}

/**
 * Wraps a look-up function. The result returns all IP addresses of a name if all of them are public, and fails
 * otherwise.
 */
function publicLookup(lookup: typeof lookUp): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, { family: options.family ?? 0, all: true }, (error, found: LookupAddress[]) => {
      const [first] = found ?? [];
      if (error !== null || first === undefined) callback(error ?? unreachable('has no address'), '', 0);
      else if (!found.every(({ address }) => isPublicAddress(address)))
        callback(refused('leads to an IP address that is not public'), '', 0);
      else if (options.all === true) callback(null, found);
      else callback(null, first.address, first.family);
    });
  };
}

const unreachable = (why: string): AppError => new AppError('url_unreachable', `The server ${why}.`);

function failure(error: unknown): AppError {
  const { code, name } = error as { code?: unknown; name?: unknown };
  const reason = typeof code === 'string' ? code : String(name);
  return new AppError('url_unreachable', `The server does not answer (${reason}).`, { reason }, error);
}
