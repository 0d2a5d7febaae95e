import { connect, createServer, type Server, type Socket } from 'node:net';
import type { Random } from '#test/builders/random.ts';

/**
 * Maximum number of bytes that a client sends before its connection is cut. They are enough for a session and some
 * batches.
 */
const requestBytesMax = 60_000;
/** Maximum number of bytes that the server sends before the connection is cut. Responses are short. */
const answerBytesMax = 8_000;

/**
 * A proxy in front of a server. It cuts connections after random numbers of bytes in one direction, so that messages or
 * rows are sent in part, or a response is lost.
 */
export class CuttingProxy {
  cuts = 0;
  readonly #server: Server;
  readonly #target: URL;
  readonly #random: Random;
  readonly #cutsMax: number;

  private constructor(server: Server, target: URL, random: Random, cutsMax: number) {
    this.#server = server;
    this.#target = target;
    this.#random = random;
    this.#cutsMax = cutsMax;
  }

  static async listen(target: URL, random: Random, cutsMax: number): Promise<CuttingProxy> {
    const server = createServer();
    const proxy = new CuttingProxy(server, target, random, cutsMax);
    server.on('connection', (client) => proxy.#accept(client));
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
    return proxy;
  }

  get url(): string {
    const url = new URL(this.#target);
    const address = this.#server.address();
    if (address === null || typeof address !== 'object') throw new RangeError('the proxy listens to a port');
    url.hostname = '127.0.0.1';
    url.port = String(address.port);
    return url.href;
  }

  close(): void {
    this.#server.close();
  }

  #accept(client: Socket): void {
    const server = connect({ port: Number(this.#target.port), host: this.#target.hostname, noDelay: true });
    client.setNoDelay(true);
    const isOfRequests = this.#random.unit() < 0.7;
    const limit = this.#random.below(isOfRequests ? requestBytesMax : answerBytesMax);
    this.#forward(client, server, isOfRequests ? limit : Number.POSITIVE_INFINITY);
    this.#forward(server, client, isOfRequests ? Number.POSITIVE_INFINITY : limit);
  }

  #forward(from: Socket, to: Socket, limit: number): void {
    let left = limit;
    from.on('data', (bytes) => {
      if (bytes.length <= left || this.cuts === this.#cutsMax) {
        left -= bytes.length;
        to.write(bytes);
        return;
      }
      this.cuts++;
      from.destroy();
      // the bytes before the cut still arrive
      to.end(bytes.subarray(0, Math.max(0, left)));
    });
    from.on('end', () => to.end());
    from.on('error', () => to.destroy());
    from.on('close', () => to.end());
  }
}
