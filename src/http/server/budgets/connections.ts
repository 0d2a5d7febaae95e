import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { clientOf } from '#accounts/client-address.ts';

/** A connection of a client. */
interface Connection {
  readonly socket: Socket;
  /** The client whose limits count the connection. `null` for a trusted proxy, which speaks for many clients. */
  readonly client: string | null;
  /** Number of requests with complete headers and an unfinished answer. */
  requests: number;
  /** Time when the connection's last answer was sent, or when the connection was opened if no answer was sent. */
  idleSinceMs: number;
}

/** How long a connection must be idle before a new connection of the same IP address may replace it, in ms. */
const idleMs = 1_000;
/**
 * How long a refused connection stays open, in ms. If it were closed immediately, its client would immediately open the
 * next connection.
 */
const refusedMs = 1_000;
/**
 * Maximum number of refused connections that stay open for `refusedMs`. Their data is not read, and at most 64 kB per
 * connection are buffered. The maximum equals the usual limit of connections, so that a client with twice its share of
 * connections has to wait, too.
 */
export const closingMax = 1_000;

/**
 * How long a client that is shut out gets no new connection, in ms. Without this pause the client would reconnect
 * immediately.
 */
const shutOutMs = 1_000;

export interface ConnectionBounds {
  /** Maximum number of connections of all clients. */
  readonly total: number;
  /** Maximum number of connections of one IP address. */
  readonly each: number;
  /**
   * Whether a peer is a trusted proxy. A proxy's connections are not limited by IP address, because a proxy speaks for
   * many clients.
   */
  readonly isProxy: (address: string) => boolean;
}

/**
 * Limits the open connections of all clients and of each IP address. If an IP address has reached its limit, a new
 * connection replaces the connection of this IP address that has been idle longest. If the process has reached its
 * limit, a new connection replaces an idle connection of the IP address with the most connections. A connection without
 * a complete request is idle, so unfinished headers and kept-alive connections never keep other clients out. If no
 * connection is idle, the new connection is refused.
 */
export class Connections {
  readonly #bounds: ConnectionBounds;
  readonly #open = new Map<Socket, Connection>();
  readonly #ofClient = new Map<string, Set<Connection>>();
  /** Clients that are currently shut out. */
  readonly #shutOut = new Set<string>();
  #refused = 0;
  #closedIdle = 0;
  /** Number of refused connections that are still open. */
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

  /** Number of refused connections since the start, and number of idle connections that were closed to make room. */
  get counts(): { readonly refused: number; readonly closedIdle: number } {
    return { refused: this.#refused, closedIdle: this.#closedIdle };
  }

  /** Sockets of all open connections. */
  sockets(): Iterable<Socket> {
    return this.#open.keys();
  }

  /** Decides whether a new connection may send requests. If not, closes the connection. */
  accept(socket: Socket): boolean {
    const address = socket.remoteAddress;
    // without an address, the connection is already closed
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
   * Refuses new connections from the client of a connection for one second, because the client's requests wasted tens
   * of milliseconds of the event loop.
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
      // without `idleMs`, a client could replace its connections as soon as they are open, and so open any number of
      // connections one after another
      if (idle === null || performance.now() - idle.idleSinceMs < idleMs) return false;
      this.#close(idle);
    }
    return this.#open.size < total || this.#close(this.#idleOfLargest());
  }

  /**
   * Returns the connection that has been idle longest, from the IP address that has the most connections. Only
   * addresses with an idle connection are considered.
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
    // `close` is emitted later, but the new connection needs the room immediately
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
