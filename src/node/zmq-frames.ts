import type { NodeMessage, ZmqTopic } from '#kernel/contracts/node.ts';
import { asBlockHash, asTxid } from '#kernel/primitives/hash.ts';
import { unreachable } from '#kernel/unreachable.ts';

export const zmqTopics: readonly ZmqTopic[] = ['sequence', 'rawtx', 'hashblock'];

const hashBytes = 32;

/**
 * Reads messages that a node publishes. A message has a topic, a body, and a counter of its topic (4 bytes, little
 * endian). Hashes arrive in display order and are reversed (Bitcoin Core doc/zmq.md).
 */
export class ZmqReader {
  readonly #next = new Map<ZmqTopic, number>();
  readonly #blocksBy: ZmqTopic;

  /** `blocksBy` is the topic that announces connected blocks, if both topics do. */
  constructor(blocksBy: 'sequence' | 'hashblock') {
    this.#blocksBy = blocksBy;
  }

  /** Must be called for a new connection, because the counters start again. */
  reset(): void {
    this.#next.clear();
  }

  /** The meaning of one message. If the counter has a gap, or the message is malformed, a `gap` comes first. */
  read([topicFrame, body, count]: readonly Uint8Array[]): NodeMessage[] {
    const topic = topicOf(topicFrame);
    if (topic === null) return [];
    const gap: NodeMessage = { kind: 'gap', topic };
    if (body === undefined || count?.length !== 4) return [gap];
    const message = readBody(topic, body);
    if (message === null) return [gap];
    const messages = this.#followsLast(topic, count) ? [] : [gap];
    const isSaidElsewhere = topic === 'hashblock' && this.#blocksBy !== topic;
    return isSaidElsewhere ? messages : [...messages, message];
  }

  #followsLast(topic: ZmqTopic, count: Uint8Array): boolean {
    const number = Buffer.from(count).readUInt32LE();
    const expected = this.#next.get(topic) ?? number;
    this.#next.set(topic, (number + 1) % 2 ** 32);
    return number === expected;
  }
}

function topicOf(frame: Uint8Array | undefined): ZmqTopic | null {
  const name = frame === undefined ? '' : Buffer.from(frame).toString('latin1');
  return zmqTopics.find((topic) => topic === name) ?? null;
}

function readBody(topic: ZmqTopic, body: Uint8Array): NodeMessage | null {
  switch (topic) {
    case 'rawtx':
      return { kind: 'transaction', bytes: body };
    case 'hashblock':
      return readHashBlock(body);
    case 'sequence':
      return readSequence(body);
    default:
      return unreachable(topic);
  }
}

function readHashBlock(body: Uint8Array): NodeMessage | null {
  return body.length === hashBytes ? { kind: 'block-connected', hash: asBlockHash(turned(body)) } : null;
}

/**
 * Reads the body of a `sequence` message: 32 bytes of hash, a letter, and for transactions the mempool's own sequence
 * number.
 */
function readSequence(body: Uint8Array): NodeMessage | null {
  const letter = String.fromCharCode(body[hashBytes] ?? 0);
  const hash = turned(body.subarray(0, hashBytes));
  if (body.length === hashBytes + 1) {
    if (letter === 'C') return { kind: 'block-connected', hash: asBlockHash(hash) };
    if (letter === 'D') return { kind: 'block-disconnected', hash: asBlockHash(hash) };
  }
  if (body.length === hashBytes + 1 + 8) {
    const mempoolSequence = Buffer.from(body).readBigUInt64LE(hashBytes + 1);
    if (letter === 'A') return { kind: 'mempool-added', txid: asTxid(hash), mempoolSequence };
    if (letter === 'R') return { kind: 'mempool-removed', txid: asTxid(hash), mempoolSequence };
  }
  return null;
}

const turned = (hash: Uint8Array): Uint8Array => Uint8Array.from(hash).reverse();
