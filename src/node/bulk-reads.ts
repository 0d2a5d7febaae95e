import { Pool } from 'undici';
import type { BufferPool } from '#kernel/contracts/block-source.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import type { BlockHashHex } from '#kernel/primitives/hash.ts';
import { shownAddress } from '#kernel/shown-address.ts';
import { AnswerReader } from './answer-reader.ts';
import type { Credentials, UserAndPassword } from './credentials.ts';
import { type Body, type BodyRequest, readBody } from './http-body.ts';
import type { AnswerKind, HexBatch, RawMempool, ReadAnswers } from './large-answers.ts';
import { type Call, failureOfAnswer } from './node-failure.ts';

export interface ReadOptions {
  /** Whether to read the heights of spent outputs, too. Only RPC returns heights. */
  readonly withHeights?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly buffers?: BufferPool | undefined;
}

export interface BulkBounds extends ReadOptions {
  readonly bytesMax: number;
}

/**
 * Maximum number of concurrent requests. Two blocks with their spent outputs keep two cores busy. More requests would
 * only wait in the node's queue, which other programs use, too. By default it holds 64 requests, or 16 before
 * Bitcoin Core 29 (`-rpcworkqueue`).
 */
const connectionsMax = 8;
/** How long an idle connection is kept, in ms. bitcoind closes idle connections after 30 s (rpcservertimeout). */
const idleConnectionMs = 10_000;
const connectTimeoutMs = 10_000;
/**
 * How long to wait for the beginning of an answer, in ms. A node that verifies blocks or flushes its caches delays
 * answers for seconds.
 */
const headersTimeoutMs = 60_000;
/** How long a complete answer may take, in ms. This is enough for four million bytes at 70 kB/s. */
const answerTimeoutMs = 120_000;

/**
 * Maximum number of bytes of the ids of a mempool. It is ten times the size of a full mempool, which has 200,000 ids of
 * 68 characters.
 */
const mempoolBytesMax = 140_000_000;
/**
 * Maximum number of bytes of a batch's answer. A hundred transactions of the largest relayed size (400,000 weight
 * units) are 80 MB of hex.
 */
const batchBytesMax = 100_000_000;

/** A call of a batch. */
export interface BulkCall {
  readonly method: string;
  readonly parameters: readonly unknown[];
}

const answerCodes = { cut: 'node_unreachable', tooLong: 'node_answer_invalid' } as const;
const blockCodes = { cut: 'block_truncated', tooLong: 'block_oversized' } as const;

/** Reads large answers of a node: binary data over REST, and single RPC calls whose JSON is too large for `NodeRpc`. */
export class BulkReads {
  readonly #rpcUrl: string;
  readonly #restUrl: string;
  readonly #credentials: Credentials;
  readonly #timeoutMs: number;
  readonly #rpcPool: Pool;
  readonly #restPool: Pool;
  readonly #reader = new AnswerReader();

  constructor(rpcUrl: string, restUrl: string, credentials: Credentials, timeoutMs = answerTimeoutMs) {
    this.#rpcUrl = rpcUrl;
    this.#restUrl = restUrl;
    this.#credentials = credentials;
    this.#timeoutMs = timeoutMs;
    this.#rpcPool = poolFor(rpcUrl, timeoutMs);
    this.#restPool =
      new URL(rpcUrl).origin === new URL(restUrl).origin ? this.#rpcPool : poolFor(restUrl, timeoutMs);
  }

  /** Whether REST and RPC are the same server, so that both are reachable or neither is. */
  get isOneServer(): boolean {
    return this.#restPool === this.#rpcPool;
  }

  /** Requests a path over REST, and returns the answer with any status. `path` begins with `/rest/`. */
  rest(path: string, { bytesMax, signal, buffers }: BulkBounds): Promise<Body> {
    const base = new URL(this.#restUrl);
    return readBody(this.#restPool, {
      shown: shownAddress(this.#restUrl) + path,
      path: base.pathname.replace(/(?<!\/)\/+$/u, '') + path,
      bytesMax,
      timeoutMs: this.#timeoutMs,
      codes: blockCodes,
      signal,
      buffers,
    });
  }

  /** The result of an RPC call. Throws like NodeRpc, and also `block_truncated` or `block_oversized`. */
  async rpc(method: string, parameters: readonly unknown[], bounds: BulkBounds): Promise<unknown> {
    return this.#resultOf(method, await this.#authorised(callBody(method, parameters), bounds));
  }

  /** The spent outputs of a block from `getblock <hash> 3`, parsed in a separate thread. Throws like `rpc`. */
  spentOutputs(hash: BlockHashHex, bounds: BulkBounds): Promise<ReadAnswers['spent-outputs']> {
    return this.#readApart('spent-outputs', 'getblock', callBody('getblock', [hash, 3]), bounds);
  }

  /** The ids of the node's mempool, parsed in a separate thread. Throws like NodeRpc. */
  rawMempool(signal?: AbortSignal): Promise<RawMempool> {
    const body = callBody('getrawmempool', [false, true]);
    return this.#readApart(
      'mempool',
      'getrawmempool',
      body,
      { bytesMax: mempoolBytesMax, signal },
      answerCodes,
    );
  }

  /**
   * Sends many calls in one request, and returns their hex results in the same order. The answer is parsed in a
   * separate thread. Throws like NodeRpc.
   */
  async hexBatch(calls: readonly BulkCall[], signal?: AbortSignal): Promise<HexBatch> {
    const bounds = { bytesMax: batchBytesMax, signal };
    const method = calls[0]?.method ?? 'nothing';
    const batch = await this.#readApart('hex-batch', method, batchBody(calls), bounds, answerCodes);
    if (batch.ends.length === calls.length) return batch;
    throw new AppError('node_answer_invalid', `The node did not answer all of ${calls.length} calls.`, {
      method,
    });
  }

  async #readApart<Kind extends AnswerKind>(
    kind: Kind,
    method: string,
    sent: string,
    bounds: BulkBounds,
    codes: BodyRequest['codes'] = blockCodes,
  ): Promise<ReadAnswers[Kind]> {
    const body = await this.#authorised(sent, bounds, codes);
    const call = this.#callOf(method);
    // the body of a 401 or 403 has no documented form and only says that the credentials were refused, so it is not
    // parsed
    if (body.status === 401 || body.status === 403) throw failureOfAnswer(body.status, '', call);
    const answer = await this.#reader.read(kind, body.bytes);
    if (answer.kind === 'read') return answer.value;
    if (answer.kind === 'failed') throw new AppError(answer.code, answer.message, { ...answer.details });
    throw failureOfAnswer(answer.rpcCode === 0 ? body.status : answer.rpcCode, answer.message, call);
  }

  async #authorised(
    sent: string,
    bounds: BulkBounds,
    codes: BodyRequest['codes'] = blockCodes,
  ): Promise<Body> {
    const shown = await this.#credentials.current();
    const body = await this.#post(sent, shown, bounds, codes);
    if (body.status !== 401 || !(await this.#credentials.renew(shown))) return body;
    return this.#post(sent, await this.#credentials.current(), bounds, codes);
  }

  async close(): Promise<void> {
    await Promise.all([
      this.#rpcPool.destroy(),
      this.#restPool === this.#rpcPool ? null : this.#restPool.destroy(),
      this.#reader.close(),
    ]);
  }

  #post(
    sent: string,
    shown: UserAndPassword | null,
    { bytesMax, signal }: BulkBounds,
    codes: BodyRequest['codes'],
  ): Promise<Body> {
    const authorization =
      shown === null
        ? {}
        : { authorization: `Basic ${Buffer.from(`${shown.user}:${shown.password}`).toString('base64')}` };
    return readBody(this.#rpcPool, {
      shown: shownAddress(this.#rpcUrl),
      path: new URL(this.#rpcUrl).pathname,
      body: sent,
      headers: { 'content-type': 'application/json', ...authorization },
      bytesMax,
      timeoutMs: this.#timeoutMs,
      codes,
      signal,
    });
  }

  #callOf(name: string): Call {
    return {
      url: shownAddress(this.#rpcUrl),
      name,
      redact: (text) => this.#credentials.redact(text),
      refusal: () => this.#credentials.refusal(),
    };
  }

  #resultOf(method: string, { status, bytes }: Body): unknown {
    const call = this.#callOf(method);
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

const callBody = (method: string, params: readonly unknown[]): string =>
  JSON.stringify({ id: 0, method, params });

const batchBody = (calls: readonly BulkCall[]): string =>
  JSON.stringify(calls.map(({ method, parameters }, id) => ({ id, method, params: parameters })));

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

/** Parses JSON. Returns undefined if the bytes are not JSON. */
function parsedJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8'));
  } catch {
    return undefined;
  }
}
