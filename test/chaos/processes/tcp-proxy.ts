import { connect, createServer, type Server, type Socket } from 'node:net';

export type ProxyMode = 'pass' | 'refuse' | 'stall' | 'mute';

/**
 * A fixed port in front of a port that may change or vanish. `refuse` ends all connections, and accepts no new ones.
 * `stall` keeps the connections but passes no byte on, like a broken network. `mute` passes on requests, but no
 * answers.
 */
export class TcpProxy {
  target: number;
  readonly #server: Server;
  readonly #pairs = new Set<readonly [Socket, Socket]>();
  #mode: ProxyMode = 'pass';

  private constructor(server: Server, target: number) {
    this.#server = server;
    this.target = target;
  }

  static async listen(target: number): Promise<TcpProxy> {
    const server = createServer();
    const proxy = new TcpProxy(server, target);
    server.on('connection', (client) => proxy.#accept(client));
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(0, '127.0.0.1', resolve);
    });
    return proxy;
  }

  get port(): number {
    const address = this.#server.address();
    return address !== null && typeof address === 'object' ? address.port : 0;
  }

  set(mode: ProxyMode): void {
    this.#mode = mode;
    if (mode === 'refuse') this.cut();
    for (const pair of this.#pairs) this.#pauseOrResume(pair);
  }

  /** Ends the existing connections. New connections are accepted. */
  cut(): void {
    for (const pair of this.#pairs) for (const socket of pair) socket.destroy();
  }

  async close(): Promise<void> {
    this.cut();
    await new Promise((resolve) => {
      this.#server.close(resolve);
    });
  }

  #accept(client: Socket): void {
    if (this.#mode === 'refuse') {
      client.destroy();
      return;
    }
    const upstream = connect({ port: this.target, host: '127.0.0.1', noDelay: true });
    client.setNoDelay(true);
    const pair = [client, upstream] as const;
    this.#pairs.add(pair);
    const forward = (from: Socket, to: Socket): void => {
      from.on('data', (bytes) => {
        if (!to.write(bytes)) {
          from.pause();
          to.once('drain', () => this.#pauseOrResume(pair));
        }
      });
      from.on('end', () => to.end());
      from.on('error', () => to.destroy());
      from.on('close', () => {
        to.destroy();
        this.#pairs.delete(pair);
      });
    };
    forward(client, upstream);
    forward(upstream, client);
    this.#pauseOrResume(pair);
  }

  #pauseOrResume([client, upstream]: readonly [Socket, Socket]): void {
    if (this.#mode === 'stall') client.pause();
    else client.resume();
    if (this.#mode === 'stall' || this.#mode === 'mute') upstream.pause();
    else upstream.resume();
  }
}
