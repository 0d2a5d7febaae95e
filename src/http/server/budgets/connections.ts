import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { clientOf } from '#accounts/client-address.ts';

/** A connection of a client. */
interface Connection {
  readonly socket: Socket;
  /** Its address, as limits count it; null: a trusted proxy, whose clients are others. */
  readonly client: string | null;
  /** Requests whose headers are complete and whose answers are not out. */
  requests: number;
  /** When its last answer was out, or when it was opened. */
  idleSinceMs: number;
}

/** A connection gives way to another one of its address after it was idle for this long. */
const idleMs = 1_000;
/** A refused connection is closed after this time: at once, its client would open the next one at once. */
const refusedMs = 1_000;
/**
 * So many are left open for that; what they send is not read, and 64 kB of it are buffered at most: as many as
 * connections, so that one client with twice its number waits too.
 */
export const closingMax = 1_000;

/** A client that is shut out gets no connection for this time: it asks again at once where it may. */
const shutOutMs = 1_000;

export interface ConnectionBounds {
  /** Of all clients. */
  readonly total: number;
  /** Of one address. */
  readonly each: number;
  /** Whether a peer is a trusted proxy: it speaks for many clients, whose number is not bounded. */
  readonly isProxy: (address: string) => boolean;
}

/**
 * Bounds open connections, of all clients and of each address. Where there is no room for another one, a connection
 * without a request in progress gives way to it, the one that has been idle longest: unfinished headers and kept
 * connections take places from nobody. Where the process is full, it is one of the address that has most. A connection
 * is refused where nothing can give way.
 */
export class Connections {
  readonly #bounds: ConnectionBounds;
  readonly #open = new Map<Socket, Connection>();
  readonly #ofClient = new Map<string, Set<Connection>>();
  /** Clients that are shut out now. */
  readonly #shutOut = new Set<string>();
  #refused = 0;
  #closedIdle = 0;
  /** Refused ones that are still open. */
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

  /** Since the start: connections that were refused, and idle ones that gave way. */
  get counts(): { readonly refused: number; readonly closedIdle: number } {
    return { refused: this.#refused, closedIdle: this.#closedIdle };
  }

  /** Sockets of all open connections. */
  sockets(): Iterable<Socket> {
    return this.#open.keys();
  }

  /** Whether a new connection may ask anything. It is closed where it may not. */
  accept(socket: Socket): boolean {
    const address = socket.remoteAddress;
    // it is gone already
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
   * Gives the client of a connection no new ones for a second: what it sent took the event loop tens of milliseconds
   * for nothing.
   */
  shutOut(socket: Socket): void {
    const client = this.#open.get(socket)?.client ?? null;
    if (client === null || this.#shutOut.has(client)) return;
    this.#shutOut.add(client);
    setTimeout(() => this.#shutOut.delete(client), shutOutMs).unref();
  }

  /** A request of a connection, until its answer is out or given up. */
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
      // who replaces connections as soon as they are open would have any number of them one after another
      if (idle === null || performance.now() - idle.idleSinceMs < idleMs) return false;
      this.#close(idle);
    }
    return this.#open.size < total || this.#close(this.#idleOfLargest());
  }

  /** The longest idle connection of the address that has most, of those that have an idle one. */
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
    // `close` is emitted later, and its place is needed now
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
