import { type LookupAddress, lookup as lookUp } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { Agent } from 'undici';
import { AppError } from '#kernel/errors/app-error.ts';
import { isPublicAddress } from './public-address.ts';

/** A connection is made within this time, or not at all. */
const connectTimeoutMs = 5_000;
/** Connections to one host: a server that is slow for one request keeps few others. */
const connectionsEach = 4;

/** Ports from 1024 on that browsers do not connect to: they belong to other protocols (Fetch Standard, "bad port"). */
const refusedPorts: ReadonlySet<number> = new Set([
  1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697,
  10_080,
]);
const lowPorts: ReadonlySet<number> = new Set([80, 443]);
const firstFreePort = 1024;

export interface OutgoingRequest {
  /** A longer answer is not read. */
  readonly bytesMax: number;
  /** Bound for the whole answer. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

export interface OutgoingAnswer {
  readonly status: number;
  readonly bytes: Uint8Array;
}

export interface OutgoingOptions {
  /** URLs of the operator's own settings: their origins may be anywhere. */
  readonly own?: readonly string[];
  /** Absent: the resolver of the system. For tests. */
  readonly lookup?: typeof lookUp;
}

/**
 * Requests to servers that others name, guarded: http or https without user and password, a port of the web, and public
 * addresses alone. A name is resolved once, every address that it has is judged, and the connection goes to one of
 * those; the name stays in TLS and in `Host`. No redirect is followed and no proxy is used.
 */
export class OutgoingHttp {
  readonly #own: ReadonlySet<string>;
  readonly #guarded: Agent;
  readonly #free: Agent;

  constructor({ own = [], lookup = lookUp }: OutgoingOptions = {}) {
    this.#own = new Set(own.map((url) => new URL(url).origin));
    const options = { connections: connectionsEach };
    this.#guarded = new Agent({
      ...options,
      connect: { timeout: connectTimeoutMs, lookup: publicLookup(lookup) },
    });
    this.#free = new Agent({ ...options, connect: { timeout: connectTimeoutMs } });
  }

  /**
   * Throws `url_refused` where it must not be asked, `url_unreachable` without a complete answer in time, and
   * `url_answer_too_long`.
   */
  async get(url: string, { bytesMax, timeoutMs, signal }: OutgoingRequest): Promise<OutgoingAnswer> {
    const target = URL.canParse(url) ? new URL(url) : null;
    if (target === null) throw refused('is not a URL');
    const isOwn = this.#own.has(target.origin);
    if (!isOwn) judge(target);
    const controller = new AbortController();
    const late = setTimeout(() => controller.abort(), timeoutMs);
    const signals = signal === undefined ? [controller.signal] : [controller.signal, signal];
    const stop = AbortSignal.any(signals);
    try {
      const { statusCode: status, body } = await (isOwn ? this.#free : this.#guarded).request({
        origin: target.origin,
        path: `${target.pathname}${target.search}`,
        method: 'GET',
        headers: { accept: 'application/json', 'accept-encoding': 'identity' },
        signal: stop,
      });
      const pieces: Uint8Array[] = [];
      let length = 0;
      for await (const piece of body as AsyncIterable<Uint8Array>) {
        length += piece.length;
        if (length > bytesMax) {
          body.destroy();
          throw new AppError('url_answer_too_long', `The server sends more than ${bytesMax} bytes.`);
        }
        pieces.push(piece);
      }
      return { status, bytes: Buffer.concat(pieces) };
    } catch (error) {
      signal?.throwIfAborted();
      if (controller.signal.aborted) throw unreachable(`gave no complete answer within ${timeoutMs} ms`);
      throw error instanceof AppError ? error : failure(error);
    } finally {
      clearTimeout(late);
    }
  }

  async close(): Promise<void> {
    await Promise.all([this.#guarded.destroy(), this.#free.destroy()]);
  }
}

/** Throws `url_refused`. After the URL parser: `0x7f.1` is 127.0.0.1 by then. */
function judge({ protocol, username, password, hostname, port }: URL): void {
  if (protocol !== 'http:' && protocol !== 'https:') throw refused('is neither http nor https');
  if (username !== '' || password !== '') throw refused('holds a user or a password');
  const number = port === '' ? null : Number(port);
  const mayUse =
    number === null || lowPorts.has(number) || (number >= firstFreePort && !refusedPorts.has(number));
  if (!mayUse) throw refused('names a port that is not of the web');
  const address = hostname.replace(/^\[|\]$/gu, '');
  // a name is judged where it is resolved
  if (isIP(address) !== 0 && !isPublicAddress(address))
    throw refused('leads to an address that is not public');
}

/** All addresses of a name, if all of them are public. */
function publicLookup(lookup: typeof lookUp): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, { family: options.family ?? 0, all: true }, (error, found: LookupAddress[]) => {
      const [first] = found ?? [];
      if (error !== null || first === undefined) callback(error ?? unreachable('has no address'), '', 0);
      else if (!found.every(({ address }) => isPublicAddress(address)))
        callback(refused('leads to an address that is not public'), '', 0);
      else if (options.all === true) callback(null, found);
      else callback(null, first.address, first.family);
    });
  };
}

const refused = (why: string): AppError => new AppError('url_refused', `The URL ${why}.`);
const unreachable = (why: string): AppError => new AppError('url_unreachable', `The server ${why}.`);

function failure(error: unknown): AppError {
  const { code, name } = error as { code?: unknown; name?: unknown };
  const reason = typeof code === 'string' ? code : String(name);
  return new AppError('url_unreachable', `The server does not answer (${reason}).`, { reason }, error);
}
