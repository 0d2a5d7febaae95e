import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request as a receiver got it. */
export interface Received {
  readonly host: string;
  readonly target: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  /** Number of requests that were open at this moment, including this one. */
  readonly open: number;
}

export interface Receiver {
  readonly port: number;
  /** All requests, in the order in which they ended. */
  readonly received: Received[];
  /** Requests without a response. */
  open(this: void): readonly Received[];
  close(this: void): Promise<void>;
}

/**
 * Starts a server for webhooks under every name that leads to this machine. The response may wait. A request whose
 * response is never ended stays open.
 */
export async function startReceiver(
  answer: (request: Received, response: ServerResponse) => unknown = (_request, response) => response.end(),
): Promise<Receiver> {
  const received: Received[] = [];
  const open = new Set<Received>();
  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      const [host = ''] = request.headers.host?.split(':') ?? [];
      const got: Received = {
        host,
        target: request.url ?? '',
        headers: request.headers,
        body: Buffer.concat(pieces),
        open: open.size + 1,
      };
      open.add(got);
      response.on('close', () => open.delete(got));
      received.push(got);
      answer(got, response);
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', 4096, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    received,
    open: () => [...open],
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => {
        server.close(resolve);
      });
    },
  };
}
