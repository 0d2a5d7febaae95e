import type { Dispatcher, Pool } from 'undici';
import type { BufferPool } from '#kernel/contracts/block-source.ts';
import { copyBytes } from '#kernel/copy-bytes.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import type { ErrorCode } from '#kernel/errors/error-codes.ts';
import { tlsFailure } from '#kernel/errors/tls-failure.ts';

export interface BodyRequest {
  /** URL for messages. It does not contain the path of the server's own URL, because that path may be a token. */
  readonly shown: string;
  readonly path: string;
  /** Body of a POST request. If it is absent, the request is a GET. */
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Maximum number of bytes of an answer. A longer answer is not read. */
  readonly bytesMax: number;
  /** How long the complete answer may take, in ms. A body that arrives too slowly is abandoned. */
  readonly timeoutMs: number;
  /** Error codes for a body that ends early (`cut`), and for a body that is too long. */
  readonly codes: { readonly cut: ErrorCode; readonly tooLong: ErrorCode };
  readonly signal?: AbortSignal | undefined;
  readonly buffers?: BufferPool | undefined;
}

export interface Body {
  readonly status: number;
  readonly contentType: string;
  /** The body, in a buffer of its own. The buffer comes from the request's `buffers`, if there are any. */
  readonly bytes: Uint8Array;
}

/** Size in bytes of the first buffer if the length is unknown. The buffer grows by doubling. */
const unknownLengthBytes = 256 * 1024;
/**
 * Maximum number of bytes allocated in advance. Any block is shorter. It is small enough that a false header cannot
 * fill the memory.
 */
const believedBytesMax = 8 * 1024 * 1024;

/**
 * Reads an answer into one buffer, copying each byte once. Does not follow redirects. Throws `node_unreachable` if no
 * answer begins, or if the answer takes too long. Throws the codes of the request if the answer ends early or is too
 * long, `node_answer_invalid` if it is not HTTP, and the reason of the signal.
 */
export function readBody(pool: Pool, request: BodyRequest): Promise<Body> {
  return new Promise((resolve, reject) => {
    const { signal } = request;
    if (signal?.aborted === true) {
      // oxlint-disable-next-line typescript/prefer-promise-reject-errors -- a signal's reason, as throwIfAborted gives it
      reject(signal.reason);
      return;
    }
    const handler = new BodyHandler(request, resolve, reject);
    pool.dispatch(
      {
        path: request.path,
        method: request.body === undefined ? 'GET' : 'POST',
        headers: request.headers ?? {},
        body: request.body ?? null,
      },
      handler,
    );
  });
}

class BodyHandler implements Dispatcher.DispatchHandler {
  readonly #request: BodyRequest;
  readonly #resolve: (body: Body) => void;
  readonly #reject: (error: unknown) => void;
  readonly #timer: NodeJS.Timeout;
  #controller: Dispatcher.DispatchController | null = null;
  #failure: unknown = null;
  #status = 0;
  #contentType = '';
  #expected: number | null = null;
  #buffer: ArrayBufferLike | null = null;
  #target: Uint8Array = new Uint8Array(0);
  #length = 0;

  constructor(request: BodyRequest, resolve: (body: Body) => void, reject: (error: unknown) => void) {
    this.#request = request;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#timer = setTimeout(
      () =>
        this.#end(
          this.#error(
            'node_unreachable',
            `gave no complete answer within ${request.timeoutMs} ms`,
            'timeout',
          ),
        ),
      request.timeoutMs,
    );
    request.signal?.addEventListener('abort', this.#onAbort, { once: true });
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#failure !== null) controller.abort(asError(this.#failure));
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Readonly<Record<string, string | string[] | undefined>>,
  ): void {
    this.#status = status;
    this.#contentType = String(headers['content-type'] ?? '');
    const length = headers['content-length'];
    this.#expected = typeof length === 'string' ? Number(length) : null;
    if ((this.#expected ?? 0) > this.#request.bytesMax) this.#tooLong();
    else this.#grow(Math.min(this.#expected ?? unknownLengthBytes, believedBytesMax));
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Uint8Array): void {
    if (this.#failure !== null) return;
    const length = this.#length + chunk.length;
    if (length > this.#request.bytesMax) {
      this.#tooLong();
      return;
    }
    if (length > this.#target.length) this.#grow(Math.max(length, 2 * this.#target.length));
    copyBytes(chunk, 0, chunk.length, this.#target, this.#length);
    this.#length = length;
  }

  onResponseEnd(): void {
    if (this.#failure !== null) {
      this.#settle();
      return;
    }
    this.#release();
    const buffer = this.#buffer;
    const status = this.#status;
    const contentType = this.#contentType;
    const bytes = new Uint8Array(buffer ?? new ArrayBuffer(0), 0, this.#length);
    this.#resolve({ status, contentType, bytes });
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#failure ??= this.#failureOf(error);
    this.#settle();
  }

  readonly #onAbort = (): void => this.#end(this.#request.signal?.reason);

  #end(failure: unknown): void {
    if (this.#failure !== null) return;
    this.#failure = failure;
    this.#controller?.abort(asError(failure));
    // a request that still waits for a connection has no controller, and is aborted when it starts
    if (this.#controller === null) this.#settle();
  }

  #settle(): void {
    this.#release();
    if (this.#buffer !== null) this.#request.buffers?.give(this.#buffer);
    this.#buffer = null;
    this.#reject(this.#failure);
  }

  #release(): void {
    clearTimeout(this.#timer);
    this.#request.signal?.removeEventListener('abort', this.#onAbort);
  }

  #grow(sizeBytes: number): void {
    const size = Math.min(sizeBytes, this.#request.bytesMax);
    const { buffers } = this.#request;
    const buffer = buffers === undefined ? new ArrayBuffer(size) : buffers.take(size);
    const target = new Uint8Array(buffer);
    target.set(this.#target.subarray(0, this.#length));
    if (this.#buffer !== null) buffers?.give(this.#buffer);
    this.#buffer = buffer;
    this.#target = target;
  }

  #tooLong(): void {
    const { codes, bytesMax } = this.#request;
    this.#end(this.#error(codes.tooLong, `sends more than ${bytesMax} bytes`));
  }

  #failureOf(error: Error): AppError {
    const given = (error as { code?: unknown }).code;
    const code = typeof given === 'string' ? given : error.name;
    if (error.name === 'HTTPParserError')
      return this.#error('node_answer_invalid', 'sends an answer that is not HTTP');
    if (this.#status === 0 && tlsFailure(error) !== null)
      return this.#error('node_tls', `answers, but the connection by TLS failed (${code})`, code);
    if (this.#status === 0) return this.#error('node_unreachable', `does not answer (${code})`, code);
    const all = this.#expected === null ? '' : ` of ${this.#expected}`;
    return this.#error(
      this.#request.codes.cut,
      `ends its answer after ${this.#length}${all} bytes (${code})`,
    );
  }

  #error(code: ErrorCode, what: string, reason?: string): AppError {
    const { shown } = this.#request;
    const details = reason === undefined ? { url: shown } : { url: shown, reason };
    return new AppError(code, `${shown} ${what}.`, details);
  }
}

const asError = (failure: unknown): Error =>
  failure instanceof Error ? failure : new Error(String(failure));
