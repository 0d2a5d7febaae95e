import { setTimeout as delay } from 'node:timers/promises';
import { Subscriber } from 'zeromq';
import type { NodeMessage, NodeMessages, ZmqTopic } from '#kernel/contracts/node.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { ZmqReader } from './zmq-frames.ts';

/**
 * Maximum number of bytes of a message, because a transaction is never longer than a block. The library drops longer
 * messages.
 */
const messageBytesMax = 4_000_000;
/**
 * Maximum number of messages that wait while the event loop is busy. For each block that it connects, a node publishes
 * two messages for each transaction, some 10,000 in all. The node drops messages above its own limit (zmqpub…hwm, 1,000
 * by default).
 */
const waitingMax = 20_000;
/**
 * Maximum number of messages that are taken at once: a quarter of a millisecond. A pause of `pauseMs` follows, so at
 * most 7,000 messages are taken in a second. Without pauses the thousands of messages before a block took the
 * processor's time from the block itself, which is applied meanwhile.
 */
const messagesAtOnce = 16;
const pauseMs = 2;
/**
 * How often a heartbeat is sent, in ms. `heartbeatTimeoutMs`: how long to wait until a connection is treated as dead.
 */
const heartbeatIntervalMs = 10_000;
const heartbeatTimeoutMs = 30_000;

export interface ZmqConnection extends NodeMessages {
  /** Waits for all endpoints. After `timeoutMs`, returns the endpoints that have not answered. */
  connected(timeoutMs: number): Promise<readonly string[]>;
}

/**
 * Listens to a node with one socket for each endpoint, so messages of one endpoint keep their order. A lost connection
 * recovers without action. A `gap` for each topic then reports the loss. Throws `config_invalid` for an invalid
 * endpoint.
 */
export function listenToNode(endpoints: ReadonlyMap<ZmqTopic, string>): ZmqConnection {
  const listeners = new Set<(message: NodeMessage) => void>();
  const emit = (message: NodeMessage): void => {
    for (const listener of listeners) listener(message);
  };
  const topicsBy = new Map<string, ZmqTopic[]>();
  for (const [topic, endpoint] of endpoints) {
    topicsBy.set(endpoint, [...(topicsBy.get(endpoint) ?? []), topic]);
  }
  const blocksBy = endpoints.has('sequence') ? 'sequence' : 'hashblock';
  const sockets = [...topicsBy].map(
    ([endpoint, topics]) => new EndpointSocket(endpoint, topics, blocksBy, emit),
  );
  return {
    listen: (listener) => {
      // a new function for each call, so that the same listener can be added twice
      const own = (message: NodeMessage): void => listener(message);
      listeners.add(own);
      return () => {
        listeners.delete(own);
      };
    },
    connected: async (timeoutMs) => {
      const controller = new AbortController();
      const late = delay(timeoutMs, undefined, { signal: controller.signal }).catch(() => undefined);
      await Promise.race([Promise.all(sockets.map((socket) => socket.firstConnection)), late]);
      controller.abort();
      return sockets.filter((socket) => !socket.wasConnected).map((socket) => socket.endpoint);
    },
    close: async () => {
      listeners.clear();
      await Promise.all(sockets.map((socket) => socket.close()));
    },
  };
}

class EndpointSocket {
  readonly endpoint: string;
  readonly firstConnection: Promise<void>;
  wasConnected = false;
  readonly #socket: Subscriber;
  readonly #receiving: Promise<void>;

  constructor(
    endpoint: string,
    topics: readonly ZmqTopic[],
    blocksBy: 'sequence' | 'hashblock',
    emit: (message: NodeMessage) => void,
  ) {
    this.endpoint = endpoint;
    const reader = new ZmqReader(blocksBy);
    const socket = new Subscriber({
      maxMessageSize: messageBytesMax,
      receiveHighWaterMark: waitingMax,
      heartbeatInterval: heartbeatIntervalMs,
      heartbeatTimeout: heartbeatTimeoutMs,
      linger: 0,
      // IPv4 and IPv6
      ipv6: true,
    });
    this.#socket = socket;
    this.firstConnection = new Promise((resolve) => {
      socket.events.on('handshake', () => {
        if (this.wasConnected) {
          reader.reset();
          for (const topic of topics) emit({ kind: 'gap', topic });
        }
        this.wasConnected = true;
        resolve();
      });
    });
    socket.subscribe(...topics);
    try {
      socket.connect(endpoint);
    } catch (error) {
      socket.close();
      throw new AppError('config_invalid', `${endpoint} is not a ZMQ address.`, { endpoint }, error);
    }
    this.#receiving = receive(socket, reader, emit);
  }

  async close(): Promise<void> {
    this.#socket.close();
    await this.#receiving;
  }
}

async function receive(
  socket: Subscriber,
  reader: ZmqReader,
  emit: (message: NodeMessage) => void,
): Promise<void> {
  let taken = 0;
  for await (const frames of socket) {
    for (const message of reader.read(frames)) emit(message);
    taken++;
    if (taken % messagesAtOnce === 0) await delay(pauseMs);
  }
}
