import type { FastifyRequest } from 'fastify';

/** Takes the body of a request as it comes, in place of the memory of the process. */
export interface BodySink {
  /**
   * Takes the next bytes. No more are read until it resolves; undefined: more may come at once. Throws to refuse
   * the body.
   */
  append(chunk: Uint8Array): Promise<void> | undefined;
  /** All of the body has come: what the route gets as its body. */
  end(): Promise<unknown>;
  /** The body did not come whole, or was refused: nothing of it stays. */
  discard(): Promise<void>;
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * Takes bodies of any content type, in place of what parses them. It is asked before a byte is read, and may
     * refuse by throwing.
     */
    readonly sink?: (request: FastifyRequest, reply: FastifyReply) => Promise<BodySink>;
  }
}
