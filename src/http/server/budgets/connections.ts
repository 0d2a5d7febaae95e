import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { clientOf } from '#accounts/client-address.ts';

/** A connection of a client. */
interface Connection {
  readonly socket: Socket;
  /** Its address, as limits count it; null for a trusted proxy, which speaks for many clients. */
  readonly client: string | null;
  /** Requests with complete headers and an unfinished answer. */
  requests: number;
  /** Time when its last answer was sent, or when it was opened. */
  idleSinceMs: number;
}

/** Time after which an idle connection gives way to another one of its address. */
const idleMs = 1_000;
/**
 * Milliseconds until a refused connection is closed. If it were closed at once, its client would open the next one at
 * once.
 */
const refusedMs = 1_000;
/**
 * Maximum number of refused connections that stay open for that time. What they send is not read, and at most 64 kB of
 * it are buffered. There can be as many as connections, so that a client with twice its number waits too.
 */
export const closingMax = 1_000;

/** Milliseconds for which a shut-out client gets no connection: it would ask again as soon as it may. */
const shutOutMs = 1_000;

export interface ConnectionBounds {
  /** Connections of all clients. */
  readonly total: number;
  /** Connections of one address. */
  readonly each: number;
  /** Whether a peer is a trusted proxy: it speaks for many clients, so its connections are not limited. */
  readonly isProxy: (address: string) => boolean;
}

/**
 * Bounds open connections, of all clients and of each address. If there is no room for a new one, the connection
 * without a request that has been idle longest gives way: unfinished headers and kept connections take no places from
 * others. If the process is full, an idle connection of the address with the most connections gives way. If there is no
 * idle one, the new connection is refused.
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

  /** Counts since the start: refused connections, and idle ones that gave way. */
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
    // it is closed already
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
   * Refuses new connections of a connection's client for a second, because what it sent took the event loop tens of
   * milliseconds for nothing.
   */
  shutOut(socket: Socket): void {
    const client = this.#open.get(socket)?.client ?? null;
    if (client === null || this.#shutOut.has(client)) return;
    this.#shutOut.add(client);
    setTimeout(() => this.#shutOut.delete(client), shutOutMs).unref();
  }

  /** Counts a request of a connection until its answer is sent or abandoned. */
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
      // a client that replaces connections as soon as they are open would get any number of them one after another
      if (idle === null || performance.now() - idle.idleSinceMs < idleMs) return false;
      this.#close(idle);
    }
    return this.#open.size < total || this.#close(this.#idleOfLargest());
  }

  /** The longest idle connection of the address with the most connections, among addresses that have an idle one. */
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
    // `close` is emitted later, and the place is needed now
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
