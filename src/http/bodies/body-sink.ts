import type { FastifyRequest } from 'fastify';

/** Takes the body of a request while it arrives, so that the process does not keep it in memory. */
export interface BodySink {
  /**
   * Takes the next bytes. No more bytes are read until the promise resolves; undefined: more may come at once. Throws
   * to refuse the body.
   */
  append(chunk: Uint8Array): Promise<void> | undefined;
  /** Ends a complete body. The result is the body that the route gets. */
  end(): Promise<unknown>;
  /** Discards everything, because the body did not arrive completely or was refused. */
  discard(): Promise<void>;
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * Makes the sink that takes bodies of any content type in place of the parsers. It is called before the first byte
     * is read, and may refuse the request by throwing.
     */
    readonly sink?: (request: FastifyRequest, reply: FastifyReply) => Promise<BodySink>;
  }
}
