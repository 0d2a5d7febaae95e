import { LRUCache } from 'lru-cache';
import { RawTransactions } from '#indexer/transaction/raw-transaction.ts';
import { satsOfBitcoins } from '#kernel/bitcoin/amount.ts';
import { FairGate } from '#kernel/concurrency/fair-gate.ts';
import type { Asker } from '#kernel/contracts/asker.ts';
import type { BlockSource } from '#kernel/contracts/block-source.ts';
import type { CallOptions, NodeRpc } from '#kernel/contracts/node.ts';
import type { PastOutput } from '#kernel/contracts/past-chain.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { type BlockHashHex, displayHash, parseBlockHash, type TxidHex } from '#kernel/primitives/hash.ts';
import { asHeight, genesisHeight, type Height } from '#kernel/primitives/height.ts';
import { subsidyAt } from '#kernel/primitives/network.ts';
import type { MadeOutput } from '#kernel/satributes/satribute.ts';
import { spentMismatch, spentValues } from './spent-values.ts';
import type {
  FeePayer,
  IndexedRanges,
  Missing,
  TracedOutpoint,
  TracedOutput,
  TracedTransaction,
  TraceSource,
} from './trace-source.ts';
import { isUnreadable } from './unreadable.ts';

/**
 * Maximum number of concurrent calls to the node. Other responses use four more (http/ord/sources/node-calls.ts). So
 * one of the eight connections (src/node/core-rpc.ts) is always left for the indexer, however slow the node is.
 */
const callsMax = 3;
/**
 * Maximum number of waiting calls. 32 requests are handled concurrently, and each may make four look-ups
 * (trace-outputs.ts). In addition, two walks may wait with two calls each.
 */
const callsWaitingMax = 32 * 4 + 2 * 2;
/** Maximum time that a call waits, in ms. A request waits for its turn for at most the same time. */
const callWaitMs = 30_000;
/**
 * Maximum number of cached inputs and outputs. Each needs 150 bytes. They are cached because outputs of one wallet
 * share much of their past.
 */
const cachedPartsMax = 200_000;
/** Maximum number of cached block hashes. */
const cachedHashesMax = 100_000;
/**
 * Maximum number of block hashes per request, from a height downwards. Coins that move often usually come from the
 * blocks just below. One more hash costs the node about 5 microseconds, but a separate request costs a hundred times as
 * much.
 */
const hashesAtOnce = 64;
/** Bitcoin Core's error codes for missing data: not found, pruned, or out of range (rpc/protocol.h). */
const absentCodes: ReadonlySet<unknown> = new Set([-1, -5, -8]);

const firstSubsidy: number = subsidyAt(genesisHeight);
const opReturn = '6a';

/**
 * A node that may accept many calls in one request. `batch` returns the results in the order of the calls, and throws
 * if any call fails.
 */
export interface TraceRpc extends NodeRpc {
  batch?<Result>(
    calls: readonly { readonly method: string; readonly parameters: readonly unknown[] }[],
    options?: CallOptions,
  ): Promise<Result[]>;
}

interface NodeInput {
  readonly coinbase?: string;
  readonly txid: TxidHex;
  readonly vout: number;
  readonly prevout?: { readonly height: number; readonly value: number };
}

interface NodeTransaction {
  readonly in_active_chain?: boolean;
  readonly blockhash?: BlockHashHex;
  readonly vin: readonly NodeInput[];
  readonly vout: readonly { readonly value: number; readonly scriptPubKey: { readonly hex: string } }[];
}

/**
 * Reads at most `count` block hashes of an indexed chain, from a height downwards. Returns fewer hashes if the chain
 * has fewer blocks.
 */
export type ChainHashes = (from: Height, count: number) => Promise<readonly BlockHashHex[]>;

export interface NodeTraceOptions {
  /** An index of all sats, or undefined if there is no such index. */
  readonly indexed?: IndexedRanges | undefined;
  /**
   * The chain whose transactions are read, even if the node has left this chain. If it is absent, the node's best chain
   * is used.
   */
  readonly chain?: ChainHashes | undefined;
}

/**
 * Reads transactions from a node. The node needs no txindex, because the height determines the block of each
 * transaction. For each transaction, the node reads the block with its spent outputs. Fees are computed from the raw
 * block.
 */
export class NodeTraceSource implements TraceSource {
  readonly #node: TraceRpc;
  /** Gate for calls to the node. Walks are treated as one separate client, because each walk serves several clients. */
  readonly #calls = new FairGate({
    running: callsMax,
    waiting: callsWaitingMax,
    waitMs: callWaitMs,
    refusal: () =>
      new AppError('sats_busy', 'too many outputs are being looked up; try again in a few seconds'),
  });
  readonly #blocks: Pick<BlockSource, 'read'>;
  readonly #chain: ChainHashes | undefined;
  readonly indexed: IndexedRanges | undefined;
  readonly #hashes = new LRUCache<Height, BlockHashHex>({ max: cachedHashesMax });
  /** Transactions by block hash and txid. */
  readonly #transactions = new LRUCache<string, TracedTransaction>({
    maxSize: cachedPartsMax,
    sizeCalculation: ({ inputs, outputs }) => outputs.length + (inputs?.length ?? 0) + 1,
  });

  constructor(node: TraceRpc, blocks: Pick<BlockSource, 'read'>, { indexed, chain }: NodeTraceOptions = {}) {
    this.indexed = indexed;
    this.#chain = chain;
    this.#node = node;
    this.#blocks = blocks;
  }

  async output({ txid, vout }: TracedOutpoint, asker?: Asker): Promise<TracedOutput | null> {
    const found = await this.#ask<{ bestblock: BlockHashHex; confirmations: number; value: number } | null>(
      'gettxout',
      [txid, vout, false],
      asker,
    );
    if (found === null)
      return (await this.#firstOutput(txid, vout, asker)) ?? this.#unspendable(txid, vout, asker);
    const tip = await this.#ask<{ height: number }>('getblockheader', [found.bestblock], asker);
    if (tip === null) return null;
    const height = asHeight(tip.height - found.confirmations + 1);
    const blockHash = await this.#hashAt(height, true, asker);
    return blockHash === null ? null : { txid, vout, value: satsOfBitcoins(found.value), height, blockHash };
  }

  /** Returns the output of block 0. It cannot be spent, but nodes do not list it as unspent. */
  async #firstOutput(txid: TxidHex, vout: number, asker?: Asker): Promise<TracedOutput | null> {
    const blockHash = await this.#hashAt(genesisHeight, false, asker);
    if (blockHash === null || vout !== 0) return null;
    const block = await this.#ask<{ readonly tx: readonly TxidHex[] }>('getblock', [blockHash, 1], asker);
    if (block?.tx[0] !== txid) return null;
    return { txid, vout, value: firstSubsidy, height: genesisHeight, blockHash };
  }

  /**
   * Finds an output that can never be spent. Nodes do not list such outputs as unspent, and only a node with txindex
   * finds them.
   */
  async #unspendable(txid: TxidHex, vout: number, asker?: Asker): Promise<TracedOutput | null> {
    const found = await this.#ask<NodeTransaction>('getrawtransaction', [txid, 1], asker);
    const output = found?.vout[vout];
    if (found?.blockhash === undefined || output === undefined) return null;
    if (!output.scriptPubKey.hex.startsWith(opReturn)) return null;
    const block = await this.#ask<{ height: number }>('getblockheader', [found.blockhash], asker);
    if (block === null) return null;
    const height = asHeight(block.height);
    return { txid, vout, value: satsOfBitcoins(output.value), height, blockHash: found.blockhash };
  }

  async madeOutput({ txid, vout, height }: MadeOutput): Promise<TracedOutput | Missing> {
    // the hash is read first, so that the transaction is in this block or in no block
    const blockHash = await this.#hashAt(height, true);
    const transaction = blockHash === null ? null : await this.#transactionIn(txid, height, false);
    if (blockHash === null || transaction === null) return noTransaction(txid, height);
    if ('missing' in transaction) return transaction;
    const value = transaction.outputs[vout];
    if (value === undefined) return { missing: `transaction ${txid} has no output ${vout}` };
    return { txid, vout, value, height, blockHash };
  }

  async transaction(txid: TxidHex, height: Height): Promise<TracedTransaction | Missing> {
    if (height === genesisHeight) return { outputs: [firstSubsidy], inputs: null };
    // a cached hash may be older than a reorganisation; its block may lack the transaction, or may no longer be in the
    // chain
    return (await this.#transactionIn(txid, height, false)) ?? (await this.#transactionAgain(txid, height));
  }

  async #transactionAgain(txid: TxidHex, height: Height): Promise<TracedTransaction | Missing> {
    const found = await this.#transactionIn(txid, height, true);
    return found ?? noTransaction(txid, height);
  }

  async #transactionIn(
    txid: TxidHex,
    height: Height,
    fresh: boolean,
  ): Promise<TracedTransaction | Missing | null> {
    const blockHash = await this.#hashAt(height, fresh);
    if (blockHash === null) return null;
    const key = `${blockHash} ${txid}`;
    const cached = this.#transactions.get(key);
    if (cached !== undefined) return cached;
    const found = await this.#ask<NodeTransaction>('getrawtransaction', [txid, 2, blockHash]);
    const isStale = found?.in_active_chain === false && this.#chain === undefined;
    if (found === null || isStale) return null;
    const outputs = found.vout.map(({ value }): number => satsOfBitcoins(value));
    const isCoinbase = found.vin[0]?.coinbase !== undefined;
    const inputs = isCoinbase ? null : inputsOf(found.vin);
    if (inputs === undefined)
      return { missing: `the node no longer has the outputs that block ${height} spends` };
    const transaction = { outputs, inputs };
    this.#transactions.set(key, transaction);
    return transaction;
  }

  async feePayers(height: Height): Promise<readonly FeePayer[] | Missing> {
    const missing = {
      missing: `the fees of block ${height} are unknown, because the block or the outputs that it spends cannot be read`,
    };
    const hash = parseBlockHash((await this.#hashAt(height, true)) ?? '');
    if (hash === null) return missing;
    try {
      const { bytes, spentOutputs } = await this.#blocks.read({ height, hash });
      return spentOutputs === null ? missing : feePayersOf(bytes, spentOutputs);
    } catch (error) {
      if (isUnreadable(error)) return missing;
      throw error;
    }
  }

  async isOnChain(height: Height, blockHash: BlockHashHex): Promise<boolean> {
    return (await this.#hashAt(height, true)) === blockHash;
  }

  async #hashAt(height: Height, fresh: boolean, asker?: Asker): Promise<BlockHashHex | null> {
    const cached = fresh ? undefined : this.#hashes.get(height);
    if (cached !== undefined) return cached;
    if (this.#chain !== undefined) return this.#keepHashes(height, await this.#chain(height, hashesAtOnce));
    if (!fresh && this.#node.batch !== undefined) return this.#hashesDownFrom(height, asker);
    const hash = await this.#ask<BlockHashHex>('getblockhash', [height], asker);
    if (hash !== null) this.#hashes.set(height, hash);
    return hash;
  }

  /** Reads the hash at a height. Also caches the hashes of the blocks below, which the same response contains. */
  async #hashesDownFrom(height: Height, asker?: Asker): Promise<BlockHashHex | null> {
    const count = Math.min(hashesAtOnce, height + 1);
    const calls = Array.from({ length: count }, (_, below) => ({
      method: 'getblockhash',
      parameters: [height - below],
    }));
    const hashes = await this.#found(asker, (options) => this.#node.batch?.<BlockHashHex>(calls, options));
    return this.#keepHashes(height, hashes ?? []);
  }

  #keepHashes(height: Height, hashes: readonly BlockHashHex[]): BlockHashHex | null {
    for (const [below, hash] of hashes.entries()) this.#hashes.set(asHeight(height - below), hash);
    return hashes[0] ?? null;
  }

  /** Calls the node. Returns null if the node does not have the data. */
  #ask<Result>(method: string, parameters: readonly unknown[], asker?: Asker): Promise<Result | null> {
    return this.#found(asker, (options) => this.#node.call<Result>(method, parameters, options));
  }

  /** Runs a call through the gate. Returns null if the node does not have the data. */
  async #found<Result>(
    asker: Asker | undefined,
    call: (options: CallOptions) => Promise<Result> | undefined,
  ): Promise<Result | null> {
    const options = asker === undefined ? {} : { signal: asker.signal };
    try {
      return (await this.#calls.run(asker, async () => call(options))) ?? null;
    } catch (error) {
      const isAbsent = error instanceof AppError && error.code === 'node_call_failed';
      if (isAbsent && absentCodes.has(error.details['rpcCode'])) return null;
      throw error;
    }
  }
}

const noTransaction = (txid: TxidHex, height: Height): Missing => ({
  missing: `the node has no transaction ${txid} in its block at height ${height}`,
});

/** Reads the inputs with their spent outputs. Returns undefined if the node does not return spent outputs. */
function inputsOf(inputs: readonly NodeInput[]): readonly PastOutput[] | undefined {
  const traced: PastOutput[] = [];
  for (const { txid, vout, prevout } of inputs) {
    if (prevout === undefined) return undefined;
    traced.push({ txid, vout, value: satsOfBitcoins(prevout.value), height: asHeight(prevout.height) });
  }
  return traced;
}

/**
 * Computes the fees of a block's transactions. Throws `spent_outputs_mismatch` if the spent outputs do not match the
 * block.
 */
function feePayersOf(block: Uint8Array, spentOutputs: Uint8Array): FeePayer[] {
  const transactions = RawTransactions.ofBlock(block);
  return spentValues(transactions, spentOutputs).flatMap((values, place): FeePayer[] => {
    if (place === 0) return [];
    const outputsTotal = transactions.outputValue(place);
    const fee = values.reduce((sum, value) => sum + value, 0) - outputsTotal;
    if (fee < 0) throw spentMismatch();
    return fee === 0 ? [] : [{ txid: displayHash(transactions.txid(place)), outputsTotal, fee }];
  });
}
