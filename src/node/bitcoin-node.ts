import type { BatchRpc, NodeAdvice, NodeFacts, NodeMessages, ZmqTopic } from '#kernel/contracts/node.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { type BlockHash, displayHash } from '#kernel/primitives/hash.ts';
import type { Height } from '#kernel/primitives/height.ts';
import { BlockReads } from './block-reads.ts';
import { BulkReads, type ReadOptions } from './bulk-reads.ts';
import { type CoreRpc, createCoreRpc } from './core-rpc.ts';
import { Credentials, type UserAndPassword } from './credentials.ts';
import { discoverFacts } from './discover-facts.ts';
import type { NodeSettings } from './node-settings.ts';
import type { SpentOutputs } from './spent-encoding.ts';
import { listenToNode } from './zmq-messages.ts';

/** Client for ordinary calls, and for calls with long answers. */
export interface BulkRpc extends BatchRpc {
  readonly hexBatch: BulkReads['hexBatch'];
  readonly rawMempool: BulkReads['rawMempool'];
}

/**
 * A connected bitcoind. While the node is unreachable, calls fail with `node_unreachable`. Calls work again when the
 * node returns.
 */
export interface BitcoinNode {
  /** Name for messages, e.g. `node http://127.0.0.1:8332`. It contains only scheme, host and port. */
  readonly name: string;
  readonly rpc: BulkRpc;
  /** Whether the node's credentials come from a cookie file. */
  readonly hasCookieFile: boolean;
  /** Properties and features of the node, as found at the start. */
  readonly facts: NodeFacts;
  readonly messages: NodeMessages;
  /**
   * Messages about blocks only, for code that must receive each message immediately. A message may arrive here before
   * or after it arrives in `messages`.
   */
  readonly blockMessages: NodeMessages;
  /**
   * The raw block with this hash (internal order), in a buffer that the caller owns. Throws `block_unavailable` if the
   * node does not have the block, and `node_pruned` if the node no longer has the block. Throws `block_truncated`,
   * `block_oversized` or `block_corrupt` if the bytes cannot be this block. Also throws like NodeRpc.
   */
  block(hash: BlockHash, options?: ReadOptions): Promise<Uint8Array>;
  /** The spent outputs of a block, in the encoding of `/rest/spenttxouts`. Throws as `block` does. */
  spentOutputs(hash: BlockHash, options?: ReadOptions): Promise<SpentOutputs>;
  /**
   * Headers (80 bytes each) of the best chain from a height on, at most 2,000. Each header is the parent of the next
   * one, and all headers are from the same moment. The list is empty above the tip. Returns null if the chain changed
   * between two calls; the caller must then call again.
   */
  headers(fromHeight: Height, count: number, signal?: AbortSignal): Promise<readonly Uint8Array[] | null>;
  /**
   * Headers from a block of the best chain on, at most 2,000, from one request. A shorter list ends at the node's tip.
   * Returns null if the best chain does not have the block, or if the node has no REST.
   */
  headersFrom(first: BlockHash, count: number, signal?: AbortSignal): Promise<readonly Uint8Array[] | null>;
  close(): Promise<void>;
}

export interface ConnectOptions {
  readonly signal?: AbortSignal;
  /** Whether to use ZMQ. False for work that ends and needs no news. If absent, published messages are received. */
  readonly listens?: boolean;
  /** Called after each ordinary call, with its failure, or with null if the node answered. */
  readonly onResult?: (failure: AppError | null) => void;
  /** How long a large answer may take in total, in ms. For tests. */
  readonly answerTimeoutMs?: number;
}

/**
 * How long connecting to ZMQ may take, in ms. Local sockets connect within milliseconds. If ZMQ does not answer, the
 * node is polled.
 */
const zmqConnectTimeoutMs = 2000;

/**
 * Connects to a node and discovers its features, without retries. Throws `node_unreachable`, `node_warming_up`,
 * `node_refused`, `node_answer_invalid`, `network_mismatch` or `config_invalid`. The caller decides whether to retry.
 */
export async function connectNode(
  settings: NodeSettings,
  options: ConnectOptions = {},
): Promise<BitcoinNode> {
  const { url, fromUrl } = withoutCredentials(settings.rpcUrl);
  const rest = withoutCredentials(settings.restUrl ?? url).url;
  const credentials = new Credentials(settings.auth, fromUrl, [url, rest].map(pathOf));
  const rpc = reportingRpc(createCoreRpc(url, credentials), options.onResult);
  const bulk = new BulkReads(url, rest, credentials, options.answerTimeoutMs);
  try {
    const found = await discoverFacts({ ...settings, restUrl: rest }, rpc, bulk, options);
    const heard = options.listens === false ? new Map<ZmqTopic, string>() : found.zmq;
    const messages = listenToNode(heard);
    const blockMessages = listenToNode(blockTopic(heard));
    const silent = await messages.connected(zmqConnectTimeoutMs);
    const facts = {
      ...found,
      advice: [...found.advice, ...silent.map((endpoint) => zmqAdvice(endpoint))],
    };
    const reads = new BlockReads(bulk, rpc, facts);
    return {
      name: `node ${rpc.url}`,
      rpc: bulkRpc(rpc, bulk),
      hasCookieFile: settings.auth.kind === 'cookie',
      facts,
      messages,
      blockMessages,
      block: (hash, readOptions) => reads.block(hash, readOptions),
      spentOutputs: (hash, readOptions) => reads.spentOutputs(hash, readOptions),
      headers: (fromHeight, count, signal) => reads.headers(fromHeight, count, signal),
      headersFrom: (first, count, signal) => reads.headersFrom(displayHash(first), count, signal),
      close: async () => {
        rpc.close();
        await Promise.all([messages.close(), blockMessages.close(), bulk.close()]);
      },
    };
  } catch (error) {
    rpc.close();
    await bulk.close();
    throw error;
  }
}

/** Wraps a client, so that each call reports its result. */
function reportingRpc(rpc: CoreRpc, onResult: ConnectOptions['onResult']): CoreRpc {
  if (onResult === undefined) return rpc;
  const reported = async <Result>(answer: Promise<Result>): Promise<Result> => {
    try {
      const result = await answer;
      onResult(null);
      return result;
    } catch (error) {
      if (error instanceof AppError) onResult(error);
      throw error;
    }
  };
  return {
    ...rpc,
    call: (method, parameters, options) => reported(rpc.call(method, parameters, options)),
    batch: (calls, options) => reported(rpc.batch(calls, options)),
  };
}

/** Sends each call to one of the two clients, depending on how long its answer may be. */
export const bulkRpc = (rpc: CoreRpc, bulk: BulkReads): BulkRpc => ({
  url: rpc.url,
  call: (method, parameters, options) => rpc.call(method, parameters, options),
  batch: (calls, options) => rpc.batch(calls, options),
  hexBatch: (calls, signal) => bulk.hexBatch(calls, signal),
  rawMempool: (signal) => bulk.rawMempool(signal),
});

const zmqAdvice = (endpoint: string): NodeAdvice => ({
  feature: 'zmq',
  message: `The ZMQ of the node at ${endpoint} cannot be reached, so the node is polled every few seconds.`,
  action: 'Set BITCOIN_ZMQ to an address that can be reached, or let zmqpub… in bitcoin.conf listen on one.',
});

/**
 * The topic that announces blocks, for a connection of its own. A node publishes every transaction of a block before
 * the block. It drops the messages of a connection above the high-water mark (zmqpub…hwm, 1,000). On a shared
 * connection, the message about the block itself could therefore be lost.
 */
function blockTopic(zmq: ReadonlyMap<ZmqTopic, string>): ReadonlyMap<ZmqTopic, string> {
  const topics: ZmqTopic[] = ['sequence', 'hashblock'];
  const topic = topics.find((each) => zmq.has(each));
  return new Map(topic === undefined ? [] : [[topic, zmq.get(topic) as string]]);
}

/** The path of a URL. The path may be the access token of a hosted node. */
const pathOf = (url: string): string => new URL(url).pathname.replaceAll(/^\/+|(?<!\/)\/+$/gu, '');

/** Splits a URL into a URL for connections, and the user and password that it contains. */
function withoutCredentials(address: string): { url: string; fromUrl: UserAndPassword | null } {
  if (!URL.canParse(address)) {
    throw new AppError('config_invalid', 'The address of the node is not a URL.');
  }
  const url = new URL(address);
  const [user, password] = [decoded(url.username), decoded(url.password)];
  url.username = url.password = url.search = url.hash = '';
  return {
    url: url.href.replace(/(?<!\/)\/+$/u, ''),
    fromUrl: user === '' && password === '' ? null : { user, password },
  };
}

/** Decodes a password. A password with an unencoded percent sign is used unchanged. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
