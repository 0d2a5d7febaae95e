import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A fault of a request. `lost`: the server processes the request, but the response is lost. */
export type Fault =
  | { readonly kind: 'cut' }
  | { readonly kind: 'lost' }
  | { readonly kind: 'slow'; readonly delayMs: number }
  | { readonly kind: 'answer'; readonly status: number; readonly body: unknown };

export interface AskedRequest {
  readonly method: string;
  readonly path: string;
  /** Number of the request, counted from 0. */
  readonly index: number;
}

/** A proxy between a program and an Elasticsearch. */
export interface ElasticFaults {
  readonly url: string;
  /** Decides what happens to each request. If it returns `null`, the request passes. */
  decide: (asked: AskedRequest) => Fault | null;
  /** Requests so far. */
  readonly count: number;
  close(): Promise<void>;
}

export async function createElasticFaults(target: string): Promise<ElasticFaults> {
  let count = 0;
  const faults: { decide: ElasticFaults['decide'] } = { decide: () => null };
  const server = createServer((asked, answer) => {
    const { method = 'GET', url = '/' } = asked;
    const fault = faults.decide({ method, path: url, index: count++ });
    void handle(target, asked, answer, fault).catch(() => asked.socket.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
  return Object.assign(faults, {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get count() {
      return count;
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  });
}

async function handle(
  target: string,
  asked: IncomingMessage,
  answer: ServerResponse,
  fault: Fault | null,
): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of asked as AsyncIterable<Buffer>) chunks.push(chunk);
  if (fault?.kind === 'cut') {
    asked.socket.destroy();
    return;
  }
  if (fault?.kind === 'answer') {
    answer.writeHead(fault.status, {
      'content-type': 'application/json',
      'x-elastic-product': 'Elasticsearch',
    });
    answer.end(JSON.stringify(fault.body));
    return;
  }
  if (fault?.kind === 'slow') {
    await new Promise((resolve) => {
      setTimeout(resolve, fault.delayMs);
    });
  }
  const { status, headers, body } = await pass(target, asked, Buffer.concat(chunks));
  if (fault?.kind === 'lost') {
    asked.socket.destroy();
    return;
  }
  answer.writeHead(status, headers);
  answer.end(body);
}

function pass(
  target: string,
  asked: IncomingMessage,
  body: Buffer,
): Promise<{ status: number; headers: IncomingMessage['headers']; body: Buffer }> {
  return new Promise((resolve, reject) => {
    const { method } = asked;
    const sent = request(`${target}${asked.url ?? '/'}`, { method, headers: asked.headers }, (got) => {
      const chunks: Buffer[] = [];
      got.on('data', (chunk: Buffer) => chunks.push(chunk));
      got.on('end', () =>
        resolve({ status: got.statusCode ?? 0, headers: got.headers, body: Buffer.concat(chunks) }),
      );
      got.on('error', reject);
    });
    sent.on('error', reject);
    sent.end(body);
  });
}
