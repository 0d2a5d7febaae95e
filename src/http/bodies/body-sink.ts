import type { FastifyRequest } from 'fastify';

/** Takes the body of a request while it arrives, so that the process does not keep it in memory. */
export interface BodySink {
  /**
   * Takes the next bytes. No more bytes are read until the promise resolves. If it returns undefined, more bytes may
   * follow at once. Throws if the body is refused.
   */
  append(chunk: Uint8Array): Promise<void> | undefined;
  /** Ends a complete body. The route receives the result as its body. */
  end(): Promise<unknown>;
  /** Discards everything. Called if the body did not arrive completely, or was refused. */
  discard(): Promise<void>;
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * Makes the sink that replaces the parsers for bodies of any content type. It is called before the first byte is
     * read, and may throw to refuse the request.
     */
    readonly sink?: (request: FastifyRequest, reply: FastifyReply) => Promise<BodySink>;
  }
}
