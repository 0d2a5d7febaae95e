import {
  Agent,
  createServer,
  type IncomingMessage,
  request,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * A proxy in front of a node. It can act after a service has sent a transaction, and before the service knows the
 * node's answer.
 */
export class NodeDoor {
  readonly #server: Server;
  readonly #node: string;
  readonly #agent = new Agent({ keepAlive: true });
  #onSent: (() => Promise<void>) | null = null;
  /** Number of transactions at which the proxy acted. */
  acted = 0;

  private constructor(node: string) {
    this.#node = node;
    this.#server = createServer((incoming, answer) => void this.#pass(incoming, answer));
  }

  static async open(node: string): Promise<NodeDoor> {
    const door = new NodeDoor(node);
    await new Promise<void>((resolve) => door.#server.listen(0, '127.0.0.1', resolve));
    return door;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Calls `act` once: after the next transaction was sent, and before the node's answer is passed on. */
  afterNext(act: () => Promise<void>): void {
    this.#onSent = act;
  }

  async close(): Promise<void> {
    this.#agent.destroy();
    this.#server.closeAllConnections();
    await new Promise((resolve) => {
      this.#server.close(resolve);
    });
  }

  async #pass(incoming: IncomingMessage, answer: ServerResponse): Promise<void> {
    const pieces: Buffer[] = [];
    for await (const piece of incoming) pieces.push(piece as Buffer);
    const body = Buffer.concat(pieces);
    const { method, headers, url = '/' } = incoming;
    const onward = request(new URL(url, this.#node), { method, headers, agent: this.#agent }, (response) => {
      void this.#answer(body, response, answer);
    });
    onward.on('error', () => answer.destroy());
    onward.end(body);
  }

  async #answer(body: Buffer, response: IncomingMessage, answer: ServerResponse): Promise<void> {
    const act = body.includes('sendrawtransaction') ? this.#onSent : null;
    if (act !== null) {
      this.#onSent = null;
      this.acted++;
      await act();
    }
    answer.writeHead(response.statusCode ?? 502, response.headers);
    response.on('error', () => answer.destroy());
    response.pipe(answer);
  }
}
