import { Pool } from 'undici';
import type { BufferPool } from '#kernel/contracts/block-source.ts';
import type { Credentials, UserAndPassword } from './credentials.ts';
import { type Body, readBody } from './http-body.ts';
import { failureOfAnswer } from './node-failure.ts';

export interface ReadOptions {
  readonly signal?: AbortSignal | undefined;
  readonly buffers?: BufferPool | undefined;
}

export interface BulkBounds extends ReadOptions {
  readonly bytesMax: number;
}

/**
 * Requests at once. Two blocks with their spent outputs keep two cores busy; more only wait in the node's queue of 64
 * (rpcworkqueue), which others use too.
 */
const connectionsMax = 8;
/** bitcoind closes idle connections after 30 s (rpcservertimeout). */
const idleConnectionMs = 10_000;
const connectTimeoutMs = 10_000;
/** A node that verifies blocks or writes its caches holds answers back for seconds. */
const headersTimeoutMs = 60_000;
/** Four million bytes at 70 kB/s. */
const answerTimeoutMs = 120_000;

const blockCodes = { cut: 'block_truncated', tooLong: 'block_oversized' } as const;

/** Large answers of a node: REST in binary, and single RPC calls whose JSON is too large for `NodeRpc`. */
export class BulkReads {
  private readonly rpcUrl: string;
  private readonly restUrl: string;
  private readonly credentials: Credentials;
  private readonly timeoutMs: number;
  private readonly rpcPool: Pool;
  private readonly restPool: Pool;

  constructor(rpcUrl: string, restUrl: string, credentials: Credentials, timeoutMs = answerTimeoutMs) {
    this.rpcUrl = rpcUrl;
    this.restUrl = restUrl;
    this.credentials = credentials;
    this.timeoutMs = timeoutMs;
    this.rpcPool = poolFor(rpcUrl, timeoutMs);
    this.restPool =
      new URL(rpcUrl).origin === new URL(restUrl).origin ? this.rpcPool : poolFor(restUrl, timeoutMs);
  }

  /** Whether REST and RPC are one server, which then is reachable for both or for neither. */
  get isOneServer(): boolean {
    return this.restPool === this.rpcPool;
  }

  /** The answer of REST whatever its status. `path` begins with `/rest/`. */
  rest(path: string, { bytesMax, signal, buffers }: BulkBounds): Promise<Body> {
    const base = new URL(this.restUrl);
    return readBody(this.restPool, {
      url: this.restUrl,
      path: base.pathname.replace(/\/+$/u, '') + path,
      bytesMax,
      timeoutMs: this.timeoutMs,
      codes: blockCodes,
      signal,
      buffers,
    });
  }

  /** The result of an RPC call. Throws as NodeRpc does, and `block_truncated` or `block_oversized`. */
  async rpc(method: string, parameters: readonly unknown[], bounds: BulkBounds): Promise<unknown> {
    const shown = await this.credentials.current();
    let body = await this.post(method, parameters, shown, bounds);
    if (body.status === 401 && (await this.credentials.renew(shown))) {
      body = await this.post(method, parameters, await this.credentials.current(), bounds);
    }
    return this.resultOf(method, body);
  }

  async close(): Promise<void> {
    await Promise.all([
      this.rpcPool.destroy(),
      this.restPool === this.rpcPool ? null : this.restPool.destroy(),
    ]);
  }

  private post(
    method: string,
    parameters: readonly unknown[],
    shown: UserAndPassword | null,
    { bytesMax, signal }: BulkBounds,
  ): Promise<Body> {
    const authorization =
      shown === null
        ? {}
        : { authorization: `Basic ${Buffer.from(`${shown.user}:${shown.password}`).toString('base64')}` };
    return readBody(this.rpcPool, {
      url: this.rpcUrl,
      path: new URL(this.rpcUrl).pathname,
      body: JSON.stringify({ id: 0, method, params: parameters }),
      headers: { 'content-type': 'application/json', ...authorization },
      bytesMax,
      timeoutMs: this.timeoutMs,
      codes: blockCodes,
      signal,
    });
  }

  private resultOf(method: string, { status, bytes }: Body): unknown {
    const call = {
      url: this.rpcUrl,
      name: method,
      redact: (text: string) => this.credentials.redact(text),
      refusal: () => this.credentials.refusal(),
    };
    const answer = parsedJson(bytes);
    if (typeof answer !== 'object' || answer === null) throw failureOfAnswer(status, '', call);
    const { result, error } = answer as { result?: unknown; error?: unknown };
    if (typeof error === 'object' && error !== null) {
      const { code, message } = error as { code?: unknown; message?: unknown };
      if (typeof code === 'number') {
        throw failureOfAnswer(code, typeof message === 'string' ? message : 'no reason given', call);
      }
    }
    if (status !== 200 || result === undefined || result === null) throw failureOfAnswer(status, '', call);
    return result;
  }
}

function poolFor(url: string, timeoutMs: number): Pool {
  return new Pool(new URL(url).origin, {
    connections: connectionsMax,
    pipelining: 1,
    allowH2: false,
    keepAliveTimeout: idleConnectionMs,
    keepAliveMaxTimeout: idleConnectionMs,
    connectTimeout: Math.min(connectTimeoutMs, timeoutMs),
    headersTimeout: Math.min(headersTimeoutMs, timeoutMs),
    bodyTimeout: Math.min(headersTimeoutMs, timeoutMs),
  });
}

/** Undefined where it is no JSON. */
function parsedJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8'));
  } catch {
    return undefined;
  }
}
