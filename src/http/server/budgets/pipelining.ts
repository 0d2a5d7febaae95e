import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Requests that may wait behind another one on their connection. Clients that pipeline send some tens ahead; each
 * waiting one holds its headers, and a packet has room for thousands.
 */
const waitingMax = 100;

/** A request that waits for its turn. */
type Begin = () => void;

/**
 * Begins the requests of a connection one after another: the next one when the answer before it is out, which is the
 * order that answers have anyway (RFC 9112, 9.3.2). Otherwise a packet of a thousand requests would be a thousand
 * answers in the making, in memory until those before them are taken. A connection with too many waiting requests is
 * for `refuse` to close.
 */
export function inTurn(handle: RequestListener, refuse: (socket: Socket) => void): RequestListener {
  const waitingOf = new WeakMap<Socket, Begin[]>();

  const begin = (request: IncomingMessage, response: ServerResponse, waiting: Begin[]): void => {
    const { socket } = request;
    response.once('close', () => {
      const next = waiting.shift();
      if (next === undefined) waitingOf.delete(socket);
      // of a connection that is gone, none begins
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
