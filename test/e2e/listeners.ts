import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Listeners that replace the rest of the network. They must receive nothing. */
export interface Listeners {
  readonly httpPort: number;
  readonly udpPort: number;
  /** Connections, requests and datagrams that arrived. */
  readonly seen: string[];
  close(): Promise<void>;
}

export async function openListeners(): Promise<Listeners> {
  const seen: string[] = [];
  const server = createServer((request, response) => {
    seen.push(`${request.method} ${request.url}`);
    response.setHeader('access-control-allow-origin', '*').end('seen');
  });
  server.on('connection', () => seen.push('connection'));
  server.on('upgrade', (request, socket) => {
    seen.push(`upgrade ${request.url}`);
    socket.destroy();
  });
  server.listen(0, '127.0.0.1');
  const udp = createSocket('udp4');
  udp.on('message', () => seen.push('datagram'));
  udp.bind(0, '127.0.0.1');
  await Promise.all([once(server, 'listening'), once(udp, 'listening')]);
  return {
    httpPort: (server.address() as AddressInfo).port,
    udpPort: udp.address().port,
    seen,
    close: async () => {
      udp.close();
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
