import { hash as digest } from 'node:crypto';
import type { NodeFacts } from '#kernel/contracts/node.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import type { ErrorCode } from '#kernel/errors/error-codes.ts';
import {
  type BlockHash,
  type BlockHashHex,
  displayHash,
  parseBlockHashHex,
} from '#kernel/primitives/hash.ts';
import type { Height } from '#kernel/primitives/height.ts';
import type { BulkReads, ReadOptions } from './bulk-reads.ts';
import type { CoreRpc } from './core-rpc.ts';
import type { SpentOutputs } from './spent-encoding.ts';

/** Maximum length of a valid block in bytes: Bitcoin Core's MAX_BLOCK_SERIALIZED_SIZE (consensus.h). */
const blockBytesMax = 4_000_000;
/**
 * Maximum number of bytes of a block's spent outputs. A block has at most 24,390 inputs (41 bytes each, of a million
 * without witnesses), and an output with a script above 10,000 bytes can never be spent. The maximum has room for
 * 24,390 outputs of the longest kind, with values and counts.
 */
const spentBytesMax = 24_390 * (8 + 3 + 10_000) + 1_000_000;
/** Maximum number of bytes of a block as hex in JSON. */
const blockJsonBytesMax = 2 * blockBytesMax + 1000;
/**
 * Maximum number of bytes of an answer to `getblock 3`. The answer has four characters for a witness byte, and up to
 * six for a script byte. V8's longest string is 512 MiB.
 */
const blockDetailsBytesMax = 400 * 1024 * 1024;
export const headerBytes = 80;
/** Maximum number of headers that REST returns in one request (Bitcoin Core rest.cpp, MAX_REST_HEADERS_RESULTS). */
export const headersMax = 2000;
/** How long a failed endpoint is not used, in ms. The next best endpoint is used meanwhile. */
const restPauseMs = 30_000;

/** RPC_INVALID_ADDRESS_OR_KEY: the node does not know the block (Bitcoin Core rpc/protocol.h). */
const notFound = -5;
/** RPC_MISC_ERROR: the node has only the header, or has pruned the block. */
const notAvailable = -1;

type Endpoint = 'block' | 'spenttxouts' | 'headers';

/**
 * Reads blocks, their spent outputs, and headers. It uses REST if the node has REST, and RPC if REST is missing or
 * fails. The bytes hash to the requested block and have a possible length. The parser checks that the block is
 * complete.
 */
export class BlockReads {
  readonly #bulk: BulkReads;
  readonly #rpc: CoreRpc;
  readonly #pauses: Record<Endpoint, number> = { block: 0, spenttxouts: 0, headers: 0 };

  constructor(bulk: BulkReads, rpc: CoreRpc, facts: Pick<NodeFacts, 'hasRest' | 'spentOutputs'>) {
    this.#bulk = bulk;
    this.#rpc = rpc;
    if (!facts.hasRest) this.#pauses.block = this.#pauses.headers = Number.POSITIVE_INFINITY;
    if (facts.spentOutputs === 'rpc') this.#pauses.spenttxouts = Number.POSITIVE_INFINITY;
  }

  /** A raw block. Throws `block_unavailable`, `node_pruned`, `block_truncated`, `block_oversized`, `block_corrupt`. */
  async block(hash: BlockHash, options: ReadOptions = {}): Promise<Uint8Array> {
    const shown = displayHash(hash);
    const path = `/rest/block/${shown}.bin`;
    const fromRest = await this.#byRest('block', path, blockBytesMax, options, (bytes) => {
      checkBlock(bytes, hash, shown);
      return bytes;
    });
    if (fromRest !== null) return fromRest;
    const bounds = { bytesMax: blockJsonBytesMax, signal: options.signal };
    const hex = await this.#explained(shown, () => this.#bulk.rpc('getblock', [shown, 0], bounds));
    const bytes = bytesOfHex(hex, options);
    checkBlock(bytes, hash, shown);
    return bytes;
  }

  /** The spent outputs of a block. Throws like `block`. */
  async spentOutputs(hash: BlockHash, options: ReadOptions = {}): Promise<SpentOutputs> {
    const shown = displayHash(hash);
    const path = `/rest/spenttxouts/${shown}.bin`;
    const fromRest =
      options.withHeights === true
        ? null
        : await this.#byRest('spenttxouts', path, spentBytesMax, options, (bytes) => {
            // the shortest data are the number of transactions and the empty entry of the coinbase
            if (bytes.length < 2) throw truncated(`The spent outputs of block ${shown}`, bytes.length, shown);
            return { bytes, heights: null };
          });
    if (fromRest !== null) return fromRest;
    const bounds = { bytesMax: blockDetailsBytesMax, signal: options.signal };
    return this.#explained(shown, () => this.#bulk.spentOutputs(shown, bounds));
  }

  /**
   * Headers of the best chain from a height on, at most `headersMax`. Each header names the header before it as its
   * parent. The list is empty above the tip. Returns null if the chain changed meanwhile; the caller must then call
   * again.
   */
  async headers(height: Height, count: number, signal?: AbortSignal): Promise<Uint8Array[] | null> {
    const options = signal === undefined ? {} : { signal };
    const wanted = Math.min(count, headersMax);
    if (wanted <= 0) return [];
    const first = await this.#hashAt(height, options);
    if (first === null) return [];
    const fromRest = await this.#headersByRest(first, wanted, options);
    const headers = fromRest ?? (await this.#headersByRpc(height, wanted, options));
    return headers.length > 0 && areLinked(headers, first) ? headers : null;
  }

  /**
   * Headers of the best chain from a block on, at most `headersMax`. The node reads them under one lock (Bitcoin Core
   * rest.cpp, rest_headers), so a list that is shorter than asked ends at the tip. Returns null if the best chain does
   * not have the block, and if REST cannot answer.
   */
  async headersFrom(first: BlockHashHex, count: number, signal?: AbortSignal): Promise<Uint8Array[] | null> {
    const options = signal === undefined ? {} : { signal };
    const headers = await this.#headersByRest(first, Math.min(count, headersMax), options);
    return headers !== null && headers.length > 0 && areLinked(headers, first) ? headers : null;
  }

  #headersByRest(first: BlockHashHex, wanted: number, options: ReadOptions): Promise<Uint8Array[] | null> {
    const path = `/rest/headers/${wanted}/${first}.bin`;
    return this.#byRest('headers', path, wanted * headerBytes, options, (bytes) => {
      if (bytes.length % headerBytes !== 0) throw truncated(`What ${path} gave`, bytes.length, first);
      return cutHeaders(bytes);
    });
  }

  async #hashAt(height: Height, options: { signal?: AbortSignal }): Promise<BlockHashHex | null> {
    try {
      const hash = await this.#rpc.call<unknown>('getblockhash', [height], options);
      const parsed = typeof hash === 'string' ? parseBlockHashHex(hash) : null;
      if (parsed !== null) return parsed;
      throw new AppError('node_answer_invalid', 'The node returned no hash for getblockhash.', { height });
    } catch (error) {
      // RPC_INVALID_PARAMETER: out of range
      if (rpcCodeOf(error) === -8) return null;
      throw error;
    }
  }

  async #headersByRpc(
    height: Height,
    count: number,
    options: { signal?: AbortSignal },
  ): Promise<Uint8Array[]> {
    const tip = await this.#rpc.call<number>('getblockcount', [], options);
    const heights = Array.from({ length: Math.min(count, tip - height + 1) }, (_, index) => height + index);
    if (heights.length === 0) return [];
    try {
      const hashes = await this.#rpc.batch<string>(
        heights.map((at) => ({ method: 'getblockhash', parameters: [at] })),
        options,
      );
      const headers = await this.#rpc.batch<string>(
        hashes.map((hash) => ({ method: 'getblockheader', parameters: [hash, false] })),
        options,
      );
      return headers.map((hex) => bytesOfHex(hex, {}));
    } catch (error) {
      // the tip became lower between two calls
      if (rpcCodeOf(error) === -8) return [];
      throw error;
    }
  }

  /** Reads over REST. Returns null if REST cannot answer now. */
  async #byRest<Result>(
    endpoint: Endpoint,
    path: string,
    bytesMax: number,
    options: ReadOptions,
    use: (bytes: Uint8Array) => Result,
  ): Promise<Result | null> {
    if (performance.now() < this.#pauses[endpoint]) return null;
    try {
      const { status, bytes } = await this.#bulk.rest(path, { ...options, bytesMax });
      if (status === 200) return use(bytes);
      // either the block or the endpoint is missing, and RPC will show which
      options.buffers?.give(bytes.buffer);
      if (status !== 404) this.#pauses[endpoint] = performance.now() + restPauseMs;
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      if (!(this.#bulk.isOneServer && isDown(error)))
        this.#pauses[endpoint] = performance.now() + restPauseMs;
    }
    return null;
  }

  /** Requests a block. If the node does not have it, the error has the reason. */
  async #explained<Answer>(shown: string, ask: () => Promise<Answer>): Promise<Answer> {
    try {
      return await ask();
    } catch (error) {
      const rpcCode = rpcCodeOf(error);
      if (rpcCode !== notFound && rpcCode !== notAvailable) throw error;
      const isPruned = /prune/iu.test((error as AppError).message);
      const code: ErrorCode = isPruned ? 'node_pruned' : 'block_unavailable';
      const why = isPruned ? 'has been pruned' : 'is not there';
      throw new AppError(code, `Block ${shown} ${why} at ${this.#rpc.url}.`, { hash: shown, rpcCode });
    }
  }
}

/**
 * Whether a failure means that the server is down. If nothing listens at the port, RPC fails just as fast. A server
 * that hangs at one path may still answer at another path.
 */
function isDown({ code, details }: AppError): boolean {
  const hangs = details['reason'] === 'timeout' || details['reason'] === 'UND_ERR_HEADERS_TIMEOUT';
  return code === 'node_unreachable' && !hangs;
}

function rpcCodeOf(error: unknown): number | null {
  const code = error instanceof AppError ? error.details['rpcCode'] : null;
  return typeof code === 'number' ? code : null;
}

const truncated = (what: string, length: number, hash: BlockHashHex): AppError =>
  new AppError('block_truncated', `${what} cannot have ${length} bytes.`, { hash, length });

function checkBlock(bytes: Uint8Array, hash: BlockHash, shown: BlockHashHex): void {
  if (bytes.length <= headerBytes) throw truncated(`Block ${shown}`, bytes.length, shown);
  if (bytes.length > blockBytesMax) {
    throw new AppError('block_oversized', `Block ${shown} has an impossible size of ${bytes.length} bytes.`, {
      hash: shown,
    });
  }
  if (!hashOfHeader(bytes.subarray(0, headerBytes)).equals(hash)) {
    throw new AppError(
      'block_corrupt',
      `The bytes of the node for block ${shown} have the hash of another block.`,
      {
        hash: shown,
      },
    );
  }
}

function hashOfHeader(header: Uint8Array): Buffer {
  return digest('sha256', digest('sha256', header, 'buffer'), 'buffer');
}

/** Decodes hex into a buffer of its own. Throws `node_answer_invalid` if the value is not hex. */
function bytesOfHex(hex: unknown, { buffers }: ReadOptions): Uint8Array {
  if (typeof hex === 'string' && hex.length % 2 === 0) {
    const length = hex.length / 2;
    const bytes = new Uint8Array(buffers?.take(length) ?? new ArrayBuffer(length), 0, length);
    if (Buffer.from(bytes.buffer, 0, length).write(hex, 'hex') === length) return bytes;
    buffers?.give(bytes.buffer);
  }
  throw new AppError('node_answer_invalid', 'The node returned an answer that is not hex.');
}

function cutHeaders(bytes: Uint8Array): Uint8Array[] {
  return Array.from({ length: bytes.length / headerBytes }, (_, index) =>
    bytes.slice(index * headerBytes, (index + 1) * headerBytes),
  );
}

function areLinked(headers: readonly Uint8Array[], first: BlockHashHex): boolean {
  let parent: Buffer | null = null;
  for (const header of headers) {
    if (header.length !== headerBytes) return false;
    if (parent !== null && !parent.equals(header.subarray(4, 36))) return false;
    const hash = hashOfHeader(header);
    if (parent === null && displayHash(hash) !== first) return false;
    parent = hash;
  }
  return true;
}
