import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Maximum number of requests that may wait on a connection. Clients with pipelining send some tens of requests ahead.
 * Each waiting request holds its headers, and a packet has room for thousands of requests.
 */
const waitingMax = 100;

/** Starts a request that waits for its turn. */
type Begin = () => void;

/**
 * Starts the requests of a connection one after another. Each request starts after the previous answer was sent,
 * because answers are sent in this order anyway (RFC 9112, 9.3.2). Otherwise a packet of a thousand requests would hold
 * a thousand answers in memory. `refuse` closes a connection with too many waiting requests.
 */
export function inTurn(handle: RequestListener, refuse: (socket: Socket) => void): RequestListener {
  const waitingOf = new WeakMap<Socket, Begin[]>();

  const begin = (request: IncomingMessage, response: ServerResponse, waiting: Begin[]): void => {
    const { socket } = request;
    response.once('close', () => {
      const next = waiting.shift();
      if (next === undefined) waitingOf.delete(socket);
      // on a closed connection, no further request starts
      else if (socket.writable) next();
    });
    handle(request, response);
  };

  return (request, response) => {
    const { socket } = request;
    const waiting = waitingOf.get(socket);
    if (waiting === undefined) {
      const none: Begin[] = [];
      waitingOf.set(socket, none);
      begin(request, response, none);
    } else if (waiting.length < waitingMax) {
      waiting.push(() => begin(request, response, waiting));
    } else {
      refuse(socket);
    }
  };
}
