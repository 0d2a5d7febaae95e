import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyInstance } from 'fastify';

/** Requests whose clients wait for `100 Continue` (RFC 9110, 10.1.1). */
const waiting = new WeakSet<IncomingMessage>();

/**
 * Lets the hooks of a route decide before a client with `Expect: 100-continue` sends the body. By default Node asks for
 * the body at once, so a refused client sends its body in vain. After an answer without 100, Node closes the
 * connection, because either the body or the next request may follow. Call it before the app listens.
 */
export function deferContinue({ server }: FastifyInstance): void {
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    waiting.add(request);
    server.emit('request', request, response);
  });
}

/** Asks a waiting client to send the body; call it when the body is about to be read. */
export function sendContinue(request: IncomingMessage, response: ServerResponse): void {
  if (waiting.delete(request)) response.writeContinue();
}
