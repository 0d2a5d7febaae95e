import type { BlockHash, Txid } from '#kernel/primitives/hash.ts';
import type { Height } from '#kernel/primitives/height.ts';
import type { NetworkName } from '#kernel/primitives/network.ts';

export interface CallOptions {
  readonly signal?: AbortSignal;
  /** Timeout of this call, in ms. */
  readonly timeoutMs?: number;
}

/**
 * JSON-RPC calls to a bitcoind. Throws `node_unreachable`, `node_refused` (wrong user, password or cookie),
 * `node_answer_invalid`, or `node_call_failed`. The details of `node_call_failed` have the node's own `rpcCode` (-5:
 * not found).
 */
export interface NodeRpc {
  /** URL for messages, without user and password. */
  readonly url: string;
  call<Result>(method: string, parameters?: readonly unknown[], options?: CallOptions): Promise<Result>;
}

export interface RpcBatchCall {
  readonly method: string;
  readonly parameters: readonly unknown[];
}

/**
 * NodeRpc with many calls in one request. The results have the order of the calls. If one call fails, an error is
 * thrown for all calls.
 */
export interface BatchRpc extends NodeRpc {
  batch<Result>(calls: readonly RpcBatchCall[], options?: CallOptions): Promise<Result[]>;
}

/**
 * Whether a node's mempool accepts reveals of inscriptions.
 * - `accepted`: it contained a reveal.
 * - `refused`: the node's policy excludes reveals.
 * - `untested`: unknown so far.
 */
export type RevealPolicy = 'accepted' | 'refused' | 'untested';

/** A node's properties and features, as found at the start. */
export interface NodeFacts {
  readonly network: NetworkName;
  /** Version from `getnetworkinfo`, for example 290403. */
  readonly version: number;
  readonly isInitialBlockDownload: boolean;
  /** Lowest height whose block the node has. `null` if nothing was pruned. */
  readonly pruneHeight: Height | null;
  readonly hasRest: boolean;
  /** Method to get spent outputs. It is `/rest/spenttxouts`, or `getblock <hash> 3`. */
  readonly spentOutputs: 'rest' | 'rpc';
  /** True if any transaction can be requested by its id (txindex). */
  readonly hasTxIndex: boolean;
  /** Reveal policy according to the node's name. */
  readonly reveals: Exclude<RevealPolicy, 'accepted'>;
  /** Endpoints by topic. If this is empty, the node is only polled. */
  readonly zmq: ReadonlyMap<ZmqTopic, string>;
  /** The missing features. */
  readonly advice: readonly NodeAdvice[];
}

/** Features that a node can lack. `zmq`: its endpoint cannot be reached. `revealing`: its policy refuses reveals. */
export type NodeFeature =
  | 'rest'
  | 'spenttxouts'
  | 'sequence'
  | 'rawtx'
  | 'zmq'
  | 'txindex'
  | 'revealing'
  | 'unpruned';

/** A feature that the node lacks. */
export interface NodeAdvice {
  readonly feature: NodeFeature;
  /** The missing feature, and its consequence. */
  readonly message: string;
  /** The change that adds the feature, mostly a line of bitcoin.conf. */
  readonly action: string;
}

export type ZmqTopic = 'sequence' | 'rawtx' | 'hashblock';

/** Messages that a node publishes. Hashes and txids are 32 bytes in internal order. */
export type NodeMessage =
  | { readonly kind: 'block-connected'; readonly hash: BlockHash }
  | { readonly kind: 'block-disconnected'; readonly hash: BlockHash }
  | { readonly kind: 'mempool-added'; readonly txid: Txid; readonly mempoolSequence: bigint }
  | { readonly kind: 'mempool-removed'; readonly txid: Txid; readonly mempoolSequence: bigint }
  | { readonly kind: 'transaction'; readonly bytes: Uint8Array }
  /** Messages were lost, or the connection was interrupted, so earlier messages may be outdated. */
  | { readonly kind: 'gap'; readonly topic: ZmqTopic };

/** Messages of a node in order. Listeners must not block. */
export interface NodeMessages {
  listen(listener: (message: NodeMessage) => void): () => void;
  close(): Promise<void>;
}
