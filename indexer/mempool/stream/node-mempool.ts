import { setImmediate as nextTurn } from 'node:timers/promises';
import type { CallOptions, NodeRpc } from '#kernel/contracts/node.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { type BlockHashHex, parseTxid } from '#kernel/primitives/hash.ts';
import type { Height } from '#kernel/primitives/height.ts';
import { isSats, type Sats } from '#kernel/primitives/sats.ts';
import { type HashKey, hashKey, hashOfKey, type MempoolSnapshot } from './membership.ts';
import type { SpentCoin, SpentOutput } from './transaction-batch.ts';

/** Calls to a node. Batch requests are optional. */
export interface MempoolRpc extends NodeRpc {
  batch?<Result>(
    calls: readonly { readonly method: string; readonly parameters: readonly unknown[] }[],
    options?: CallOptions,
  ): Promise<Result[]>;
  /**
   * Txids of the whole mempool, 32 bytes each in internal order, and the mempool sequence number that the next change
   * will have.
   */
  rawMempool?(signal?: AbortSignal): Promise<{ readonly txids: Uint8Array; readonly sequence: number }>;
  /** Concatenated results in hex, the end of each result, and for each result the node's error code or 0. */
  hexBatch?(
    calls: readonly { readonly method: string; readonly parameters: readonly unknown[] }[],
    signal?: AbortSignal,
  ): Promise<{ readonly bytes: Uint8Array; readonly ends: Uint32Array; readonly errors: Int32Array }>;
}

/** A block as the node describes it. */
export interface NodeBlock {
  readonly hash: HashKey;
  readonly height: Height;
  readonly previous: HashKey | null;
  readonly isOnBestChain: boolean;
  readonly txids: readonly HashKey[];
}

/** The node's entry of a transaction in its mempool. */
export interface MempoolEntry {
  /** Fee in sats. */
  readonly fee: Sats;
  /** Time in milliseconds since 1970. */
  readonly firstSeen: number;
}

/** An output as returned by `gettxout` and `getrawtransaction`. */
interface OutputAnswer {
  readonly value?: unknown;
  readonly scriptPubKey?: { readonly hex?: unknown };
}

/** The node's error code for an unknown transaction, block or output (RPC_INVALID_ADDRESS_OR_KEY). */
const notFound = -5;
/**
 * Maximum number of calls per request. 100 usual transactions are 50 kB; 100 of the largest relayed transactions are 80
 * MB of hex.
 */
const batchCalls = 100;
/**
 * Maximum number of concurrent requests. A node before Bitcoin Core 29 processes only 4 calls at a time by default.
 * Half of them are left, so that the follower of blocks can send requests too.
 */
const requestsAtOnce = 2;

/**
 * Maximum number of txids of a snapshot read in one go, which takes some milliseconds. A full mempool has 200,000
 * txids, and other tasks wait meanwhile.
 */
const txidsAtOnce = 2000;

/** Reads a node's mempool. Throws as NodeRpc does. */
export class NodeMempool {
  readonly #rpc: MempoolRpc;
  readonly #signal: AbortSignal;

  constructor(rpc: MempoolRpc, signal: AbortSignal) {
    this.#rpc = rpc;
    this.#signal = signal;
  }

  /** The whole mempool at one moment. */
  async snapshot(): Promise<MempoolSnapshot> {
    const raw = await this.#rpc.rawMempool?.(this.#signal);
    if (raw !== undefined) {
      const ids = new Set<HashKey>();
      await inTurns(raw.txids.length / 32, txidsAtOnce, (index) => {
        ids.add(hashKey(raw.txids.subarray(index * 32, index * 32 + 32)));
      });
      return { txids: ids, sequence: BigInt(raw.sequence) };
    }
    const answer = await this.#call<{ txids: string[]; mempool_sequence: number }>('getrawmempool', [
      false,
      true,
    ]);
    if (!Array.isArray(answer?.txids) || !Number.isSafeInteger(answer.mempool_sequence)) throw invalid();
    const txids = new Set<HashKey>();
    await inTurns(answer.txids.length, txidsAtOnce, (index) => {
      txids.add(keyOfDisplay(answer.txids[index]));
    });
    return { txids, sequence: BigInt(answer.mempool_sequence) };
  }

  async bestBlock(): Promise<HashKey> {
    return keyOfDisplay(await this.#call<string>('getbestblockhash'));
  }

  /** A block. Null: the node does not know it. */
  async block(hash: HashKey): Promise<NodeBlock | null> {
    interface Answer {
      height: Height;
      /** Number of confirmations. -1: the block is on another branch. */
      confirmations: number;
      previousblockhash?: BlockHashHex;
      tx: string[];
    }
    const answer = await this.#found<Answer>('getblock', [displayOfKey(hash), 1]);
    if (answer === null) return null;
    if (!Array.isArray(answer.tx) || !Number.isSafeInteger(answer.height)) throw invalid();
    const previous = answer.previousblockhash;
    return {
      hash,
      height: answer.height,
      previous: previous === undefined ? null : keyOfDisplay(previous),
      isOnBestChain: answer.confirmations >= 0,
      txids: answer.tx.map(keyOfDisplay),
    };
  }

  /** Bytes of a block. Null: the node does not have the block, or no longer has it. */
  async blockBytes(hash: HashKey): Promise<Uint8Array | null> {
    const hex = await this.#found<string>('getblock', [displayOfKey(hash), 0]);
    return hex === null ? null : bytesOf(hex);
  }

  /** The bytes of transactions of the mempool. Transactions that have left the mempool are omitted. */
  async transactions(txids: readonly HashKey[]): Promise<Map<HashKey, Uint8Array>> {
    if (this.#rpc.hexBatch !== undefined) return this.#transactionsApart(txids);
    const hexes = await this.#many<string>(
      'getrawtransaction',
      txids.map((txid) => [displayOfKey(txid), 0]),
    );
    const bytes = new Map<HashKey, Uint8Array>();
    hexes.forEach((hex, at) => {
      if (hex !== null) bytes.set(txids[at] as HashKey, bytesOf(hex));
    });
    return bytes;
  }

  async #transactionsApart(txids: readonly HashKey[]): Promise<Map<HashKey, Uint8Array>> {
    const found = new Map<HashKey, Uint8Array>();
    await eachChunk(txids, async (chunk) => {
      const calls = chunk.map((txid) => ({
        method: 'getrawtransaction',
        parameters: [displayOfKey(txid), 0],
      }));
      const answer = await this.#rpc.hexBatch?.(calls, this.#signal);
      if (answer === undefined) return;
      chunk.forEach((txid, index) => {
        const error = answer.errors[index]!;
        if (error !== 0 && error !== notFound) throw refused(error);
        // copy the bytes: otherwise one kept transaction would keep the hundred transactions of its answer in memory
        if (error === 0) found.set(txid, answer.bytes.slice(answer.ends[index - 1] ?? 0, answer.ends[index]));
      });
    });
    return found;
  }

  async entries(txids: readonly HashKey[]): Promise<Map<HashKey, MempoolEntry>> {
    const answers = await this.#many<{ fees?: { base?: unknown }; time?: unknown }>(
      'getmempoolentry',
      txids.map((txid) => [displayOfKey(txid)]),
    );
    const entries = new Map<HashKey, MempoolEntry>();
    answers.forEach((answer, at) => {
      if (answer === null) return;
      const fee = satsOf(answer.fees?.base);
      if (!Number.isSafeInteger(answer.time)) throw invalid();
      entries.set(txids[at] as HashKey, { fee, firstSeen: Number(answer.time) * 1000 });
    });
    return entries;
  }

  /**
   * Outputs by outpoint (36 bytes each). Outputs of blocks are found even if the mempool spends them; other outputs
   * come from the mempool. Null: the node does not know the output.
   */
  async spentOutputs(outpoints: readonly Uint8Array[]): Promise<(SpentOutput | null)[]> {
    const named = outpoints.map(nameOf);
    const found = await this.#outputsOfBlocks(named);
    const pending = unknownOf(found);
    const transactions = await this.#many<{ vout?: OutputAnswer[] }>(
      'getrawtransaction',
      pending.map((at) => [named[at]?.[0], 1]),
    );
    for (const [index, at] of pending.entries()) {
      const output = transactions[index]?.vout?.[named[at]?.[1] ?? -1];
      if (output !== undefined) found[at] = { ...coinOf(output), confirmations: 0 };
    }
    // an unknown output may have been mined between the two requests
    const mined = unknownOf(found);
    const again = await this.#outputsOfBlocks(mined.map((at) => named[at]!));
    for (const [index, at] of mined.entries()) found[at] = again[index] ?? null;
    return found;
  }

  async #outputsOfBlocks(named: readonly NamedOutput[]): Promise<(SpentOutput | null)[]> {
    const answers = await this.#many<OutputAnswer & { readonly confirmations?: unknown }>(
      'gettxout',
      named.map(([txid, vout]) => [txid, vout, false]),
    );
    return answers.map((answer) => {
      if (answer === null) return null;
      if (!Number.isSafeInteger(answer.confirmations)) throw invalid();
      return { ...coinOf(answer), confirmations: Number(answer.confirmations) };
    });
  }

  #call<Result>(method: string, parameters: readonly unknown[] = []): Promise<Result> {
    return this.#rpc.call<Result>(method, parameters, { signal: this.#signal });
  }

  async #found<Result>(method: string, parameters: readonly unknown[]): Promise<Result | null> {
    try {
      return await this.#call<Result>(method, parameters);
    } catch (error) {
      if (isNotFound(error)) return null;
      throw error;
    }
  }

  /**
   * Calls one method with many parameters. Results have the order of the parameters. Null: the node does not know what
   * the parameters name.
   */
  async #many<Result>(
    method: string,
    parameters: readonly (readonly unknown[])[],
  ): Promise<(Result | null)[]> {
    const results = Array<Result | null>(parameters.length).fill(null);
    await eachChunk(parameters, async (chunk, from) => {
      (await this.#chunk<Result>(method, chunk)).forEach((result, at) => {
        results[from + at] = result;
      });
    });
    return results;
  }

  async #chunk<Result>(method: string, chunk: readonly (readonly unknown[])[]): Promise<(Result | null)[]> {
    if (this.#rpc.batch !== undefined && chunk.length > 1) {
      try {
        const calls = chunk.map((parameters) => ({ method, parameters }));
        return await this.#rpc.batch<Result | null>(calls, { signal: this.#signal });
      } catch (error) {
        // one unknown output fails the whole request, so halve it
        if (!isNotFound(error)) throw error;
        const half = chunk.length >> 1;
        const first = await this.#chunk<Result>(method, chunk.slice(0, half));
        return [...first, ...(await this.#chunk<Result>(method, chunk.slice(half)))];
      }
    }
    return Promise.all(chunk.map((parameters) => this.#found<Result>(method, parameters)));
  }
}

/** Splits calls into requests, and sends a limited number of them at once. */
async function eachChunk<Value>(
  values: readonly Value[],
  ask: (chunk: readonly Value[], from: number) => Promise<void>,
): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < values.length) {
      const from = next;
      next += batchCalls;
      await ask(values.slice(from, from + batchCalls), from);
    }
  };
  await Promise.all(Array.from({ length: requestsAtOnce }, worker));
}

const refused = (rpcCode: number): AppError =>
  new AppError('node_call_failed', `The node refuses a transaction of its mempool with ${rpcCode}.`, {
    rpcCode,
  });

function isNotFound(error: unknown): boolean {
  return error instanceof AppError && error.details['rpcCode'] === notFound;
}

const invalid = (): AppError =>
  new AppError('node_answer_invalid', 'The answer of the node about its mempool has an unknown form.');

function keyOfDisplay(text: unknown): HashKey {
  // a block hash has the form of a txid, so this parser serves both
  const hash = typeof text === 'string' ? parseTxid(text) : null;
  if (hash === null) throw invalid();
  return hashKey(hash);
}

function bytesOf(hex: unknown): Buffer {
  if (typeof hex !== 'string') throw invalid();
  const bytes = Buffer.from(hex, 'hex');
  if (bytes.length * 2 !== hex.length) throw invalid();
  return bytes;
}

/** The indices of unknown outputs. */
const unknownOf = (outputs: readonly (SpentOutput | null)[]): number[] =>
  outputs.flatMap((output, at) => (output === null ? [at] : []));

/** An output in the form of the parameters of a call. */
type NamedOutput = readonly [txid: string, vout: number];

function nameOf(outpoint: Uint8Array): NamedOutput {
  const view = new DataView(outpoint.buffer, outpoint.byteOffset, outpoint.byteLength);
  return [displayOfKey(hashKey(outpoint.subarray(0, 32))), view.getUint32(32, true)];
}

const coinOf = ({ value, scriptPubKey }: OutputAnswer): SpentCoin => ({
  value: satsOf(value),
  script: bytesOf(scriptPubKey?.hex),
});

const displayOfKey = (key: HashKey): string => hashOfKey(key).reverse().toString('hex');

/**
 * Converts an amount to sats. Amounts are decimals of whole coins with eight places, so a double is exact once it is
 * rounded to sats.
 */
function satsOf(coins: unknown): Sats {
  const sats = Math.round(Number(coins) * 1e8);
  if (!isSats(sats)) throw invalid();
  return sats;
}

/** Runs a step for each index below a count, and yields to other tasks after every `atOnce` steps. */
async function inTurns(count: number, atOnce: number, each: (index: number) => void): Promise<void> {
  for (let index = 0; index < count; index++) {
    each(index);
    if (index % atOnce === atOnce - 1) await nextTurn();
  }
}
