import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

const headEnd = Buffer.from('\r\n\r\n');

/**
 * A client with one open connection. It sends a request, waits for the response, and reads only the response's length.
 * The clients share the cores with the service, and a complete HTTP client uses as much processor time as the response.
 */
export class LightClient {
  readonly #socket: Socket;
  readonly #host: string;
  #read: Buffer = Buffer.alloc(0);
  #answered: (() => void) | null = null;

  private constructor(socket: Socket, host: string) {
    this.#socket = socket;
    this.#host = host;
    socket.setNoDelay(true);
    socket.on('data', (bytes: Buffer) => {
      this.#read = this.#read.length === 0 ? bytes : Buffer.concat([this.#read, bytes]);
      this.#answered?.();
    });
  }

  static async open(origin: string): Promise<LightClient> {
    const { hostname, port, host } = new URL(origin);
    const socket = connect(Number(port), hostname);
    await once(socket, 'connect');
    return new LightClient(socket, host);
  }

  /**
   * Requests a path. Returns the number of bytes in the body. Throws unless the status is 200 and the response states
   * its length.
   */
  async get(path: string): Promise<number> {
    this.#socket.write(`GET ${path} HTTP/1.1\r\nHost: ${this.#host}\r\nAccept: application/json\r\n\r\n`);
    for (;;) {
      const end = this.#read.indexOf(headEnd);
      if (end >= 0) {
        const head = this.#read.toString('latin1', 0, end);
        const length = /\r\ncontent-length: (\d+)/iu.exec(head)?.[1];
        if (!head.startsWith('HTTP/1.1 200') || length === undefined) throw new Error(`${path}: ${head}`);
        const whole = end + headEnd.length + Number(length);
        if (this.#read.length >= whole) {
          this.#read = this.#read.subarray(whole);
          return Number(length);
        }
      }
      await new Promise<void>((resolve) => {
        this.#answered = resolve;
      });
    }
  }

  close(): void {
    this.#socket.destroy();
  }
}
