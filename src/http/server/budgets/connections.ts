import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { clientOf } from '#accounts/client-address.ts';

/** A connection of a client. */
interface Connection {
  readonly socket: Socket;
  /** The client for which limits count the connection; null for a trusted proxy, which speaks for many clients. */
  readonly client: string | null;
  /** Requests with complete headers and an unfinished answer. */
  requests: number;
  /** Time when the connection's last answer was sent, or when the connection was opened. */
  idleSinceMs: number;
}

/** How long a connection must be idle before it gives way to a new connection of the same address, in ms. */
const idleMs = 1_000;
/**
 * How long a refused connection stays open, in ms. If it were closed at once, its client would open the next one at
 * once.
 */
const refusedMs = 1_000;
/**
 * Maximum number of refused connections that stay open for `refusedMs`. Their data is not read, and at most 64 kB per
 * connection are buffered. The number equals the usual limit of connections, so that a client with twice its share of
 * connections waits too.
 */
export const closingMax = 1_000;

/** How long a shut-out client gets no new connection, in ms. Without this pause it would reconnect at once. */
const shutOutMs = 1_000;

export interface ConnectionBounds {
  /** Maximum number of connections of all clients. */
  readonly total: number;
  /** Maximum number of connections of one address. */
  readonly each: number;
  /**
   * Whether a peer is a trusted proxy. Its connections are not limited by address, because it speaks for many clients.
   */
  readonly isProxy: (address: string) => boolean;
}

/**
 * Bounds the open connections of all clients and of each address. If an address has its maximum, the address's
 * connection that has been idle longest is closed for a new one. If the process has its maximum, an idle connection of
 * the address with the most connections is closed. A connection without a complete request is idle, so unfinished
 * headers and kept-alive connections never keep others out. If no connection is idle, the new one is refused.
 */
export class Connections {
  readonly #bounds: ConnectionBounds;
  readonly #open = new Map<Socket, Connection>();
  readonly #ofClient = new Map<string, Set<Connection>>();
  /** Clients that are shut out now. */
  readonly #shutOut = new Set<string>();
  #refused = 0;
  #closedIdle = 0;
  /** Refused connections that are still open. */
  #closing = 0;

  constructor(bounds: ConnectionBounds) {
    this.#bounds = bounds;
  }

  get length(): number {
    return this.#open.size;
  }

  get limit(): number {
    return this.#bounds.total;
  }

  /** Numbers since the start: refused connections, and idle connections that were closed to make room. */
  get counts(): { readonly refused: number; readonly closedIdle: number } {
    return { refused: this.#refused, closedIdle: this.#closedIdle };
  }

  /** Sockets of all open connections. */
  sockets(): Iterable<Socket> {
    return this.#open.keys();
  }

  /** Whether a new connection may send requests. If not, it is closed. */
  accept(socket: Socket): boolean {
    const address = socket.remoteAddress;
    // without an address, the connection is closed already
    if (address === undefined) {
      socket.destroy();
      return false;
    }
    const client = this.#bounds.isProxy(address) ? null : clientOf(address);
    if ((client !== null && this.#shutOut.has(client)) || !this.#makeRoom(client)) {
      this.#refuse(socket);
      return false;
    }
    const connection: Connection = { socket, client, requests: 0, idleSinceMs: performance.now() };
    this.#open.set(socket, connection);
    if (client !== null) {
      const own = this.#ofClient.get(client);
      if (own === undefined) this.#ofClient.set(client, new Set([connection]));
      else own.add(connection);
    }
    socket.once('close', () => this.#forget(connection));
    return true;
  }

  /**
   * Refuses new connections from the client of a connection for one second, because its requests took the event loop
   * tens of milliseconds for nothing.
   */
  shutOut(socket: Socket): void {
    const client = this.#open.get(socket)?.client ?? null;
    if (client === null || this.#shutOut.has(client)) return;
    this.#shutOut.add(client);
    setTimeout(() => this.#shutOut.delete(client), shutOutMs).unref();
  }

  /** Counts a request in its connection until the answer is sent or abandoned. */
  begin({ socket }: IncomingMessage, response: ServerResponse): void {
    const connection = this.#open.get(socket);
    if (connection === undefined) return;
    connection.requests++;
    response.once('close', () => {
      connection.requests--;
      connection.idleSinceMs = performance.now();
    });
  }

  #refuse(socket: Socket): void {
    this.#refused++;
    socket.on('error', () => undefined);
    if (this.#closing >= closingMax) {
      socket.destroy();
      return;
    }
    this.#closing++;
    const timer = setTimeout(() => socket.destroy(), refusedMs);
    socket.once('close', () => {
      clearTimeout(timer);
      this.#closing--;
    });
  }

  #makeRoom(client: string | null): boolean {
    const { total, each } = this.#bounds;
    const own = client === null ? undefined : this.#ofClient.get(client);
    if (own !== undefined && own.size >= each) {
      const idle = longestIdle(own);
      // without `idleMs`, a client could replace its connections as soon as they are open, and open any number one
      // after another
      if (idle === null || performance.now() - idle.idleSinceMs < idleMs) return false;
      this.#close(idle);
    }
    return this.#open.size < total || this.#close(this.#idleOfLargest());
  }

  /**
   * Among addresses with an idle connection, takes the address with the most connections, and returns its connection
   * that has been idle longest.
   */
  #idleOfLargest(): Connection | null {
    let found: Connection | null = null;
    let most = 0;
    for (const own of this.#ofClient.values()) {
      const idle = own.size > most ? longestIdle(own) : null;
      if (idle === null) continue;
      found = idle;
      most = own.size;
    }
    return found;
  }

  #close(connection: Connection | null): boolean {
    if (connection === null) return false;
    this.#closedIdle++;
    connection.socket.destroy();
    // `close` is emitted later, but the new connection needs the room now
    this.#forget(connection);
    return true;
  }

  #forget(connection: Connection): void {
    const { socket, client } = connection;
    this.#open.delete(socket);
    if (client === null) return;
    const own = this.#ofClient.get(client);
    own?.delete(connection);
    if (own?.size === 0) this.#ofClient.delete(client);
  }
}

function longestIdle(connections: Iterable<Connection>): Connection | null {
  let longest: Connection | null = null;
  for (const connection of connections) {
    if (connection.requests > 0) continue;
    if (longest === null || connection.idleSinceMs < longest.idleSinceMs) longest = connection;
  }
  return longest;
}
