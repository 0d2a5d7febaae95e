import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * Starts a proxy in front of a node. It answers some paths with 404, like a node without these endpoints, and forwards
 * all other requests.
 */
export async function startNodeProxy(
  nodeUrl: string,
  isMissing: (path: string) => boolean,
): Promise<{ url: string; close(): Promise<void> }> {
  const server = createServer((incoming, answer) => {
    const path = incoming.url ?? '/';
    if (isMissing(path)) {
      answer.writeHead(404).end();
      return;
    }
    const { method, headers } = incoming;
    const onward = request(new URL(path, nodeUrl), { method, headers }, (response) => {
      answer.writeHead(response.statusCode ?? 502, response.headers);
      response.pipe(answer);
    });
    onward.on('error', () => answer.destroy());
    incoming.pipe(onward);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
