import { LRUCache } from 'lru-cache';
import type { ClientBase } from 'pg';
import { type HeaderFacts, headerFacts, timesBefore } from '#chain/blocks/header.queries.ts';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import type { NodeCalls } from '#http/ord/sources/node-calls.ts';
import {
  type BlockStats,
  type NodeHeader,
  nodeBlockHash,
  nodeHeader,
  nodeStats,
} from '#http/ord/sources/node-questions.ts';
import type { RawBlocks } from '#http/ord/sources/raw-blocks.ts';
import { blockQuestionOf, quoted } from '#http/parameters/path-parameters.ts';
import type { AppDependencies } from '#http/server/routes/app-dependencies.ts';
import type { Asker } from '#kernel/contracts/asker.ts';
import type { NodeRpc } from '#kernel/contracts/node.ts';
import type { Snapshot, Tip } from '#kernel/contracts/search-engine.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { asBlockHash, type BlockHashHex, displayHash, parseBlockHashHex } from '#kernel/primitives/hash.ts';
import { asHeight, type Height } from '#kernel/primitives/height.ts';
import { blockStats, difficultyOf, targetHex } from './block-stats.ts';
import { ChainWork } from './chain-work.ts';

const nullHash = '0'.repeat(64);
/**
 * Maximum number of blocks whose figures are cached, at 300 bytes each. The cache is for inscriptions with many
 * viewers.
 */
const statsKeptMax = 1_000;

/** Data of an indexed block that is known before its bytes are read. */
interface OwnFacts {
  readonly tip: Tip;
  readonly facts: HeaderFacts;
  readonly medianTime: number;
  /** The total work of the chain. `null` if earlier blocks are not indexed. */
  readonly work: bigint | null;
}

/** Makes the responses of `/r/blockinfo/<height or hash>`. */
export class BlockInfo {
  readonly #deps: AppDependencies;
  readonly #node: NodeCalls | null;
  readonly #rawBlocks: RawBlocks;
  readonly #work = new ChainWork();
  readonly #stats = new LRUCache<string, BlockStats>({ max: statsKeptMax });

  constructor(deps: AppDependencies, node: NodeCalls | null, rawBlocks: RawBlocks) {
    this.#deps = deps;
    this.#node = node;
    this.#rawBlocks = rawBlocks;
  }

  /** The response as JSON, and the tip at which it was made. Throws `not_found` and `no_node`. */
  async answer(query: string, asker: Asker): Promise<{ tip: Tip | null; json: string; live: boolean }> {
    const question = blockQuestionOf(query);
    const { tip, own } = await withSnapshot(
      this.#deps.pool,
      async (snapshot) => ({
        tip: snapshot.tip,
        own: await this.#ownFacts(snapshot, await headerFacts(snapshot.client, question)),
      }),
      asker.signal,
    );
    if (own !== null) return { tip, json: await this.#ownInfo(own, asker), live: false };
    return { tip, json: await nodeInfo(this.#node?.of(asker) ?? null, query), live: true };
  }

  async #ownFacts({ client, tip }: Snapshot, facts: HeaderFacts | null): Promise<OwnFacts | null> {
    if (facts === null || tip === null) return null;
    const times = (await timesBefore(client, facts.height)).toSorted((a, b) => a - b);
    const medianTime = times[times.length >> 1] ?? facts.time;
    return { tip, facts, medianTime, work: await this.#workAt(client, facts) };
  }

  async #workAt(client: ClientBase, { isWhole, height }: HeaderFacts): Promise<bigint | null> {
    return isWhole ? this.#work.at(client, height) : null;
  }

  async #ownInfo({ tip, facts, medianTime, work }: OwnFacts, asker: Asker): Promise<string> {
    const hash = displayHash(facts.hash);
    const node = this.#node?.of(asker) ?? null;
    const stats = await this.#statsOf(facts, hash, node, asker);
    const chainwork =
      work === null ? (await headerOfNode(node, hash)).chainwork : work.toString(16).padStart(64, '0');
    const info = {
      chainwork,
      confirmations: tip.height - facts.height + 1,
      height: facts.height,
      medianTime,
      nextBlock: facts.nextHash === null ? null : displayHash(facts.nextHash),
      transactionCount: facts.txCount,
    };
    return infoJson(facts.header, hash, stats, info);
  }

  async #statsOf(
    facts: HeaderFacts,
    hash: BlockHashHex,
    node: NodeRpc | null,
    asker: Asker,
  ): Promise<BlockStats> {
    const known = this.#stats.get(hash);
    if (known !== undefined) return known;
    const block = await this.#rawBlocks.read({ height: facts.height, hash: facts.hash }, asker);
    const stats =
      (block === null ? null : blockStats(block, facts.height, this.#deps.network.name)) ??
      (await statsOfNode(node, hash));
    this.#stats.set(hash, stats);
    return stats;
  }
}

async function statsOfNode(node: NodeRpc | null, hash: BlockHashHex): Promise<BlockStats> {
  if (node === null)
    throw new AppError('no_node', 'the fees of a block need its bytes and its spent outputs, or a node');
  const stats = await nodeStats(node, hash);
  if (stats === null) throw new AppError('not_found', `block ${hash} not found`);
  return stats;
}

async function headerOfNode(node: NodeRpc | null, hash: BlockHashHex): Promise<NodeHeader> {
  if (node === null) throw new AppError('no_node', 'the work of a chain with gaps needs a node');
  const header = await nodeHeader(node, hash);
  if (header === null) throw new AppError('not_found', `block ${hash} not found`);
  return header;
}

/** The response about a block that is not indexed, made from the node's data. */
async function nodeInfo(node: NodeRpc | null, query: string): Promise<string> {
  if (node === null) throw new AppError('not_found', `block ${quoted(query)} not found`);
  const hash = parseBlockHashHex(query) ?? (await nodeBlockHash(node, asHeight(Number(query))));
  const header = hash === null ? null : await nodeHeader(node, hash);
  if (hash === null || header === null) throw new AppError('not_found', `block ${quoted(query)} not found`);
  const stats = await statsOfNode(node, hash);
  const info = {
    chainwork: header.chainwork,
    confirmations: header.confirmations,
    height: header.height,
    medianTime: header.mediantime,
    nextBlock: header.nextblockhash ?? null,
    transactionCount: header.nTx,
  };
  return infoJson(headerBytes(header), hash, stats, info);
}

/** Rebuilds the 80 bytes of a header from the fields that the node returns. */
function headerBytes(header: NodeHeader): Buffer {
  const bytes = Buffer.alloc(80);
  bytes.writeInt32LE(header.version, 0);
  Buffer.from(header.previousblockhash ?? nullHash, 'hex')
    .reverse()
    .copy(bytes, 4);
  Buffer.from(header.merkleroot, 'hex').reverse().copy(bytes, 36);
  bytes.writeUInt32LE(header.time, 68);
  bytes.writeUInt32LE(Number.parseInt(header.bits, 16), 72);
  bytes.writeUInt32LE(header.nonce, 76);
  return bytes;
}

interface Info {
  readonly chainwork: string;
  readonly confirmations: number;
  readonly height: Height;
  readonly medianTime: number;
  readonly nextBlock: BlockHashHex | null;
  readonly transactionCount: number;
}

function infoJson(bytes: Uint8Array, hash: BlockHashHex, stats: BlockStats, info: Info): string {
  const header = Buffer.from(bytes);
  const bits = header.readUInt32LE(72);
  const previous = displayHash(asBlockHash(header.subarray(4, 36)));
  return JSON.stringify({
    average_fee: stats.averageFee,
    average_fee_rate: stats.averageFeeRate,
    bits,
    chainwork: info.chainwork,
    confirmations: info.confirmations,
    difficulty: difficultyOf(bits),
    hash,
    feerate_percentiles: stats.feeratePercentiles,
    height: info.height,
    max_fee: stats.maxFee,
    max_fee_rate: stats.maxFeeRate,
    max_tx_size: stats.maxTxSize,
    median_fee: stats.medianFee,
    median_time: info.medianTime,
    merkle_root: displayHash(header.subarray(36, 68)),
    min_fee: stats.minFee,
    min_fee_rate: stats.minFeeRate,
    next_block: info.nextBlock,
    nonce: header.readUInt32LE(76),
    previous_block: previous === nullHash ? null : previous,
    subsidy: stats.subsidy,
    target: targetHex(bits),
    timestamp: header.readUInt32LE(68),
    total_fee: stats.totalFee,
    total_size: stats.totalSize,
    total_weight: stats.totalWeight,
    transaction_count: info.transactionCount,
    version: header.readUInt32LE(0),
  });
}
