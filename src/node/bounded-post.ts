import type { CallOptions } from '#kernel/contracts/node.ts';
import { AppError } from '#kernel/errors/app-error.ts';

/**
 * Maximum number of bytes of an answer. The longest answer here is `getrawmempool true` of a full mempool, because
 * blocks are read by other requests.
 */
const answerBytesMax = 256 * 1024 * 1024;
/**
 * How long a call may take, in ms. A busy node takes seconds to scan its mempool or list its chain tips. A call that
 * takes longer is treated as hanging.
 */
const timeoutDefaultMs = 60_000;

interface CallResponse {
  readonly statusCode: number;
}

interface CallRequest {
  /** The request of node:http. It exists once the request was sent. */
  readonly req?: { readonly reusedSocket: boolean };
  on(event: 'data', listener: (chunk: Uint8Array) => void): CallRequest;
  abort(): void;
}

/**
 * The part of `bitcoin-core`'s request library that is used. The types of the library describe only the promises around
 * requests.
 */
export interface RequestLibrary {
  post(
    options: Record<string, unknown>,
    callback: (error: unknown, response: CallResponse) => void,
  ): CallRequest;
  postAsync(options: Record<string, unknown>): Promise<CallResponse>;
}

/**
 * Sends one request within its bounds. The request is sent a second time if it used a connection that the node had
 * closed as idle. Rejects with the library's errors, or with an AppError for an exceeded bound.
 */
export async function boundedPost(
  library: RequestLibrary,
  request: Record<string, unknown>,
  options: CallOptions,
): Promise<CallResponse> {
  const first = new BoundedPost(library, request, options);
  try {
    return await first.response;
  } catch (error) {
    if (!first.metClosedConnection(error)) throw error;
    return new BoundedPost(library, request, options).response;
  }
}

class BoundedPost {
  readonly response: Promise<CallResponse>;
  readonly #running: CallRequest;
  readonly #signal: AbortSignal | undefined;
  readonly #timer: NodeJS.Timeout;
  readonly #resolvers = Promise.withResolvers<CallResponse>();
  #bytes = 0;

  constructor(
    library: RequestLibrary,
    request: Record<string, unknown>,
    { signal, timeoutMs = timeoutDefaultMs }: CallOptions,
  ) {
    this.#signal = signal;
    this.response = this.#resolvers.promise;
    this.#running = library.post(
      // a proxy from environment variables must not see the password
      { ...request, timeout: timeoutMs, followRedirect: false, proxy: null },
      (error, response) => {
        this.#release();
        if (error === null || error === undefined) this.#resolvers.resolve(response);
        else this.#resolvers.reject(error);
      },
    );
    this.#running.on('data', (chunk) => this.#count(chunk));
    // a separate timer, because the library's own timeout restarts with every byte
    this.#timer = setTimeout(() => {
      this.#end(new AppError('node_unreachable', `No complete answer arrived within ${timeoutMs} ms.`));
    }, timeoutMs);
    signal?.addEventListener('abort', this.#stop, { once: true });
  }

  /**
   * Whether a request failed because it used a connection that the node was just closing. A node closes idle
   * connections.
   */
  metClosedConnection(error: unknown): boolean {
    const { code } = error as { code?: unknown };
    const isReset = code === 'ECONNRESET' || code === 'EPIPE';
    return isReset && this.#bytes === 0 && this.#running.req?.reusedSocket === true;
  }

  readonly #stop = (): void => this.#end(new Error('The call was cancelled.'));

  #count(chunk: Uint8Array): void {
    this.#bytes += chunk.length;
    if (this.#bytes <= answerBytesMax) return;
    this.#end(new AppError('node_answer_invalid', `An answer has more than ${answerBytesMax} bytes.`));
  }

  #end(error: Error): void {
    this.#release();
    this.#running.abort();
    this.#resolvers.reject(error);
  }

  #release(): void {
    clearTimeout(this.#timer);
    this.#signal?.removeEventListener('abort', this.#stop);
  }
}
