import type { BlockHash, Txid } from '#kernel/primitives/hash.ts';
import type { Height } from '#kernel/primitives/height.ts';
import type { NetworkName } from '#kernel/primitives/network.ts';

export interface CallOptions {
  readonly signal?: AbortSignal;
  /** Timeout of this call. */
  readonly timeoutMs?: number;
}

/**
 * JSON-RPC calls to a bitcoind. Throws `node_unreachable`, `node_refused` (wrong user, password or cookie),
 * `node_answer_invalid`, or `node_call_failed`, whose details carry the node's own `rpcCode` (-5: not found).
 */
export interface NodeRpc {
  /** Address for messages, without user and password. */
  readonly url: string;
  call<Result>(method: string, parameters?: readonly unknown[], options?: CallOptions): Promise<Result>;
}

export interface RpcBatchCall {
  readonly method: string;
  readonly parameters: readonly unknown[];
}

/** NodeRpc, and many calls in one request: results in the same order; one failed call throws for all. */
export interface BatchRpc extends NodeRpc {
  batch<Result>(calls: readonly RpcBatchCall[], options?: CallOptions): Promise<Result[]>;
}

/**
 * Whether a node's mempool accepts reveals of inscriptions. `accepted`: it contained one. `refused`: the node's
 * policy excludes them. `untested`: unknown so far.
 */
export type RevealPolicy = 'accepted' | 'refused' | 'untested';

/** A node's properties and features, as discovered at the start. */
export interface NodeFacts {
  readonly network: NetworkName;
  /** Version from `getnetworkinfo`, e.g. 290403. */
  readonly version: number;
  readonly isInitialBlockDownload: boolean;
  /** Lowest height whose block the node has. Null: nothing was pruned. */
  readonly pruneHeight: Height | null;
  readonly hasRest: boolean;
  /** Way to get spent outputs: `/rest/spenttxouts`, or `getblock <hash> 3`. */
  readonly spentOutputs: 'rest' | 'rpc';
  /** True if any transaction can be requested by its id (txindex). */
  readonly hasTxIndex: boolean;
  /** Reveal policy that the node's name implies. */
  readonly reveals: Exclude<RevealPolicy, 'accepted'>;
  /** Endpoints by topic. Empty: the node is only polled. */
  readonly zmq: ReadonlyMap<ZmqTopic, string>;
  /** The missing features, each with the line of bitcoin.conf that adds it. */
  readonly advice: readonly string[];
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
