import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A server that serves files by path, and counts requests. */
export interface FileServer {
  readonly contents: Map<string, string | Uint8Array>;
  /** Number of requests, by path. */
  readonly asked: Map<string, number>;
  /** Maximum number of concurrent requests so far. */
  readonly together: () => number;
  url(path: string): string;
  close(): Promise<void>;
}

/** @param delayMs how long each response is delayed */
export async function startFileServer(delayMs = 0): Promise<FileServer> {
  const contents = new Map<string, string | Uint8Array>();
  const asked = new Map<string, number>();
  let now = 0;
  let most = 0;
  const server = createServer((request, response) => {
    const path = request.url ?? '';
    asked.set(path, (asked.get(path) ?? 0) + 1);
    most = Math.max(most, ++now);
    setTimeout(() => {
      now--;
      const content = contents.get(path);
      response.statusCode = content === undefined ? 404 : 200;
      response.end(content ?? 'nothing here');
    }, delayMs);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    contents,
    asked,
    together: () => most,
    url: (path) => `http://127.0.0.1:${port}${path}`,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
