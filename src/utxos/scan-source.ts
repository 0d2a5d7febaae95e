import { LRUCache } from 'lru-cache';
import { satsOfBitcoins } from '#kernel/bitcoin/amount.ts';
import { inLanes } from '#kernel/concurrency/in-lanes.ts';
import type { Asker } from '#kernel/contracts/asker.ts';
import type { NodeRpc } from '#kernel/contracts/node.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { type BlockHashHex, parseTxid } from '#kernel/primitives/hash.ts';
import { asHeight, type Height } from '#kernel/primitives/height.ts';
import type { QueueState } from '#kernel/reports/metrics.ts';
import { type BlockOfOutput, blockAt } from './node-blocks.ts';
import {
  inChainOrder,
  type ListedOutput,
  type Listing,
  type Owner,
  outputsMax,
  tooManyOutputs,
  type UtxoSource,
} from './utxo.ts';

/** Maximum time of a scan, in ms. On mainnet a scan reads 10 GB, which takes two minutes from a fast disk. */
const scanMaxMs = 900_000;
/**
 * Maximum time that a request waits for a scan, in ms. The scan continues afterwards, and a later request finds its
 * result.
 */
const waitMaxMs = 20_000;
/** Maximum number of results in memory. A result has at most 10,000 outputs of 200 bytes each. */
const keptMax = 8;
/**
 * How long a result is used, in ms, even if there is a newer block. The result shows the outputs that were unspent when
 * the scan began.
 */
const freshMs = 120_000;
/**
 * Maximum number of concurrent calls for blocks. A node before Bitcoin Core 29 processes only 4 calls at a time by
 * default, and other callers need it, too.
 */
const callsMax = 2;
/** Bitcoin Core's error code while another scan runs: RPC_INVALID_PARAMETER. */
const scanRunsCode = -8;

interface ScanAnswer {
  readonly success: boolean;
  readonly height: number;
  readonly bestblock: BlockHashHex;
  readonly unspents: readonly {
    readonly txid: string;
    readonly vout: number;
    readonly scriptPubKey: string;
    readonly amount: number;
    readonly height: number;
  }[];
}

interface Scan {
  readonly key: string;
  readonly listing: Promise<Listing>;
}

interface Kept {
  readonly listing: Listing;
  readonly bestBlock: BlockHashHex;
  readonly madeAt: number;
}

/**
 * The node's set of all unspent outputs. The node has no index of scripts, so each scan reads the entire set. A node
 * runs only one scan at a time. During a scan, requests for other scripts are refused, and requests for the same
 * scripts share the scan.
 */
export class ScanSource implements UtxoSource {
  readonly name = 'node';
  readonly #node: NodeRpc;
  readonly #waitMs: number;
  readonly #kept = new LRUCache<string, Kept>({ max: keptMax });
  #running: Scan | null = null;

  /** @param waitMs maximum time that a request waits for a scan; only tests set it */
  constructor(node: NodeRpc, waitMs: number = waitMaxMs) {
    this.#node = node;
    this.#waitMs = waitMs;
  }

  /** Number of running scans (0 or 1), for metrics. */
  get scanning(): QueueState {
    return { length: this.#running === null ? 0 : 1, limit: 1 };
  }

  /** Lists the unspent outputs of these scripts. Throws `utxo_scan_busy`, and the codes of NodeRpc. */
  async list(owners: readonly Owner[], { signal }: Asker): Promise<Listing> {
    const scripts = owners.map(({ script }) => Buffer.from(script).toString('hex'));
    const key = scripts.join();
    const kept = await this.#fresh(key);
    if (kept !== null) return kept;
    if (this.#running !== null && this.#running.key !== key) throw busy('it is scanning for another address');
    this.#running ??= this.#start(key, scripts);
    return this.#within(this.#running.listing, signal);
  }

  async #fresh(key: string): Promise<Listing | null> {
    const kept = this.#kept.get(key);
    if (kept === undefined) return null;
    if (performance.now() - kept.madeAt < freshMs) return kept.listing;
    return (await this.#node.call<string>('getbestblockhash')) === kept.bestBlock ? kept.listing : null;
  }

  #start(key: string, scripts: readonly string[]): Scan {
    const listing = this.#scan(key, scripts).finally(() => {
      this.#running = null;
    });
    // all callers may have disconnected, so it is possible that no one awaits the scan
    listing.catch(() => undefined);
    return { key, listing };
  }

  async #scan(key: string, scripts: readonly string[]): Promise<Listing> {
    const descriptors = scripts.map((script) => `raw(${script})`);
    const found = await this.#call(descriptors);
    if (found.unspents.length > outputsMax) throw tooManyOutputs();
    const heights = [...new Set(found.unspents.map(({ height }) => height))].map(asHeight);
    const blocks = await this.#blocks(heights);
    if ((await this.#node.call<string>('getblockhash', [found.height])) !== found.bestblock)
      throw busy('meanwhile the chain was reorganised');
    const outputs = found.unspents.map(({ txid, vout, scriptPubKey, amount, height }): ListedOutput => {
      const id = parseTxid(txid);
      const block = blocks.get(asHeight(height));
      if (id === null || block === undefined)
        throw new AppError('node_answer_invalid', 'The node returned invalid outputs.');
      const script = Buffer.from(scriptPubKey, 'hex');
      return { txid: id, vout, value: satsOfBitcoins(amount), script, height: asHeight(height), ...block };
    });
    const listing = { tipHeight: asHeight(found.height), outputs: inChainOrder(outputs) };
    this.#kept.set(key, { listing, bestBlock: found.bestblock, madeAt: performance.now() });
    return listing;
  }

  async #call(descriptors: readonly string[]): Promise<ScanAnswer> {
    try {
      const options = { timeoutMs: scanMaxMs };
      const found = await this.#node.call<ScanAnswer>('scantxoutset', ['start', descriptors], options);
      if (found.success) return found;
    } catch (error) {
      const isBusy = error instanceof AppError && error.details['rpcCode'] === scanRunsCode;
      throw isBusy ? busy('the node is scanning for another client') : error;
    }
    throw busy('the scan of the node was ended');
  }

  async #blocks(heights: readonly Height[]): Promise<ReadonlyMap<Height, BlockOfOutput>> {
    const blocks = await inLanes(
      heights,
      callsMax,
      async (height) => [height, await blockAt(this.#node, height)] as const,
    );
    return new Map(blocks);
  }

  /** Waits for a scan, but no longer than a request may wait. Clients that disconnect stop waiting. */
  #within(listing: Promise<Listing>, signal: AbortSignal): Promise<Listing> {
    const { promise, resolve, reject } = Promise.withResolvers<Listing>();
    const onAbort = (): void => reject(signal.reason as Error);
    const timer = setTimeout(() => reject(busy('the scan takes minutes, and continues')), this.#waitMs);
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
    listing.then(resolve, reject);
    return promise.finally(() => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
    });
  }
}

const busy = (why: string): AppError =>
  new AppError('utxo_scan_busy', `the node scans all unspent outputs for only one address at a time; ${why}`);
