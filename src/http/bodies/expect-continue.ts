import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyInstance } from 'fastify';

/** Requests whose clients wait for `100 Continue` (RFC 9110, 10.1.1). */
const waiting = new WeakSet<IncomingMessage>();

/**
 * Lets the hooks of a route decide before a client with `Expect: 100-continue` sends the body. By default Node requests
 * the body at once, so that even a refused client sends it. If a response is sent without 100, Node closes the
 * connection, because the next bytes could be the body or the next request. Call it before the app listens.
 */
export function deferContinue({ server }: FastifyInstance): void {
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    waiting.add(request);
    server.emit('request', request, response);
  });
}

/** Tells a waiting client to send the body. Call it when the body is about to be read. */
export function sendContinue(request: IncomingMessage, response: ServerResponse): void {
  if (waiting.delete(request)) response.writeContinue();
}
