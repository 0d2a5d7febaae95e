import type { Outpoint } from '#chain/outputs/output.queries.ts';
import {
  type RawOutput,
  type RawTransaction,
  RawTransactions,
} from '#indexer/transaction/raw-transaction.ts';
import { satsOfBitcoins } from '#kernel/bitcoin/amount.ts';
import type { NodeRpc } from '#kernel/contracts/node.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import {
  type BlockHash,
  type BlockHashHex,
  displayHash,
  parseBlockHash,
  type Txid,
} from '#kernel/primitives/hash.ts';
import type { Height } from '#kernel/primitives/height.ts';
import { isSats, type Sats } from '#kernel/primitives/sats.ts';
import { positionInProof } from './merkle-proof.ts';

/**
 * Bitcoin Core's error codes (rpc/protocol.h) for missing data: the data is pruned or not found, or a height or number
 * is out of range.
 */
const absent = new Set([-1, -5, -8]);

/** Calls the node. Null if the node does not have the data. Throws NodeRpc's other error codes. */
async function ask<Result>(
  node: NodeRpc,
  method: string,
  parameters: readonly unknown[],
): Promise<Result | null> {
  try {
    return await node.call<Result>(method, parameters);
  } catch (error) {
    if (error instanceof AppError && error.code === 'node_call_failed' && absent.has(rpcCodeOf(error)))
      return null;
    throw error;
  }
}

function rpcCodeOf(error: AppError): number {
  return Number(error.details['rpcCode']);
}

/** An unspent output, as the node reports it. */
export interface NodeOutput {
  /** 0 if the output's transaction is in the mempool. */
  readonly confirmations: number;
  readonly value: Sats;
  readonly script: Uint8Array;
}

/**
 * An unspent output. `null` if the node does not have this output. With `mempool`, an output that the mempool spends is
 * treated as spent.
 */
export async function nodeOutput(
  node: NodeRpc,
  { txid, vout }: Outpoint,
  mempool: boolean,
): Promise<NodeOutput | null> {
  const found = await ask<{ confirmations: number; value: number; scriptPubKey: { hex: string } } | null>(
    node,
    'gettxout',
    [displayHash(txid), vout, mempool],
  );
  if (found === null) return null;

  const value = satsOfBitcoins(found.value);
  return { confirmations: found.confirmations, value, script: Buffer.from(found.scriptPubKey.hex, 'hex') };
}

export interface NodeTransaction {
  readonly transaction: RawTransaction;
  /** 0 if the transaction is in the mempool, or in a block outside the best chain. */
  readonly confirmations: number;
  /** `null` if the transaction is in no block of the best chain. */
  readonly blockHash: BlockHash | null;
}

/**
 * A transaction of the mempool, or of the entire chain if the node has a txindex. `null` if the node does not have the
 * transaction.
 */
export async function nodeTransaction(node: NodeRpc, txid: Txid): Promise<NodeTransaction | null> {
  // only this form of the call returns the confirmations; its response is four times as large as the transaction
  const found = await ask<{ hex: string; confirmations?: number; blockhash?: string }>(
    node,
    'getrawtransaction',
    [displayHash(txid), true],
  );
  if (found === null) return null;
  const { hex, confirmations = 0, blockhash = '' } = found;
  const blockHash = confirmations > 0 ? parseBlockHash(blockhash) : null;
  return { transaction: transactionOf(hex, txid), confirmations, blockHash };
}

/** A transaction, read from a block that is known to contain the transaction. */
export async function nodeTransactionIn(
  node: NodeRpc,
  txid: Txid,
  blockHash: BlockHash,
): Promise<RawTransaction | null> {
  const block = displayHash(blockHash);
  const hex = await ask<string>(node, 'getrawtransaction', [displayHash(txid), false, block]);
  return hex === null ? null : transactionOf(hex, txid);
}

/**
 * The outputs that a transaction of a block spends, in the order of its inputs. Empty for a coinbase. Null if the node
 * lacks the block or the spent outputs, or if the node's version is too old for this call.
 */
export async function nodeSpentIn(
  node: NodeRpc,
  txid: Txid,
  blockHash: BlockHash,
): Promise<RawOutput[] | null> {
  const found = await ask<{ vin: { coinbase?: string; prevout?: NodePrevout }[] }>(
    node,
    'getrawtransaction',
    [displayHash(txid), 2, displayHash(blockHash)],
  );
  const spent: RawOutput[] = [];
  for (const { coinbase, prevout } of found?.vin ?? []) {
    if (coinbase !== undefined) continue;
    if (prevout === undefined) return null;
    const { value, scriptPubKey } = prevout;
    spent.push({ value: satsOfBitcoins(value), script: Buffer.from(scriptPubKey.hex, 'hex') });
  }
  return found === null ? null : spent;
}

interface NodePrevout {
  readonly value: number;
  readonly scriptPubKey: { readonly hex: string };
}

/**
 * The position of a transaction in a block that is known to contain the transaction. Null if the node lacks the block.
 */
export async function nodePositionIn(
  node: NodeRpc,
  txid: Txid,
  blockHash: BlockHash,
): Promise<number | null> {
  const proof = await ask<string>(node, 'gettxoutproof', [[displayHash(txid)], displayHash(blockHash)]);
  return proof === null ? null : positionInProof(Buffer.from(proof, 'hex'), txid);
}

function transactionOf(hex: string, txid: Txid): RawTransaction {
  const transaction = RawTransactions.one(Buffer.from(hex, 'hex'));
  if (Buffer.compare(transaction.txid, txid) === 0) return transaction;
  throw new AppError(
    'node_answer_invalid',
    `the node returned another transaction than ${displayHash(txid)}`,
  );
}

/** Display hash of the block at a height of the node's best chain. `null` if the chain is not that long. */
export async function nodeBlockHash(node: NodeRpc, height: Height): Promise<BlockHashHex | null> {
  return ask<BlockHashHex>(node, 'getblockhash', [height]);
}

export async function nodeBlock(node: NodeRpc, hash: BlockHashHex): Promise<Uint8Array | null> {
  const hex = await ask<string>(node, 'getblock', [hash, 0]);
  return hex === null ? null : Buffer.from(hex, 'hex');
}

/** The fields of `getblockheader` that answers use. Hashes are in display order. */
export interface NodeHeader {
  readonly height: Height;
  /** -1 if the block is outside the best chain. */
  readonly confirmations: number;
  readonly version: number;
  readonly merkleroot: string;
  readonly time: number;
  readonly mediantime: number;
  readonly nonce: number;
  readonly bits: string;
  readonly chainwork: string;
  readonly nTx: number;
  readonly previousblockhash?: BlockHashHex;
  readonly nextblockhash?: BlockHashHex;
}

export async function nodeHeader(node: NodeRpc, hash: BlockHashHex): Promise<NodeHeader | null> {
  return ask<NodeHeader>(node, 'getblockheader', [hash, true]);
}

/** The fields of Bitcoin Core's `getblockstats` that ord includes in its answer (rpc/blockchain.cpp). */
export interface BlockStats {
  readonly averageFee: Sats;
  readonly averageFeeRate: number;
  readonly feeratePercentiles: readonly number[];
  readonly maxFee: Sats;
  readonly maxFeeRate: number;
  readonly maxTxSize: number;
  readonly medianFee: Sats;
  readonly minFee: Sats;
  readonly minFeeRate: number;
  readonly subsidy: Sats;
  readonly totalFee: Sats;
  readonly totalSize: number;
  readonly totalWeight: number;
}

/** The node's figures of a block. Null if the node lacks the block, or the outputs that the block spends. */
export async function nodeStats(node: NodeRpc, hash: BlockHashHex): Promise<BlockStats | null> {
  const found = await ask<Record<string, number> & { feerate_percentiles: number[] }>(node, 'getblockstats', [
    hash,
  ]);
  if (found === null) return null;
  const figure = (name: string): number => {
    const value = found[name];
    if (typeof value === 'number') return value;
    throw new AppError('node_answer_invalid', `the node returned no ${name} for a block`);
  };
  const sats = (name: string): Sats => {
    const value = figure(name);
    if (isSats(value)) return value;
    throw new AppError('node_answer_invalid', `the node returned ${value} sats as ${name} of a block`);
  };
  return {
    averageFee: sats('avgfee'),
    averageFeeRate: figure('avgfeerate'),
    feeratePercentiles: found.feerate_percentiles,
    maxFee: sats('maxfee'),
    maxFeeRate: figure('maxfeerate'),
    maxTxSize: figure('maxtxsize'),
    medianFee: sats('medianfee'),
    minFee: sats('minfee'),
    minFeeRate: figure('minfeerate'),
    subsidy: sats('subsidy'),
    totalFee: sats('totalfee'),
    totalSize: figure('total_size'),
    totalWeight: figure('total_weight'),
  };
}

/** The sum of all fees that the transactions of a block pay. Null in the same cases as `nodeStats`. */
export async function nodeFees(node: NodeRpc, hash: BlockHashHex): Promise<Sats | null> {
  const found = await ask<{ totalfee?: unknown }>(node, 'getblockstats', [hash, ['totalfee']]);
  if (found === null) return null;
  const { totalfee: fees } = found;
  if (typeof fees === 'number' && isSats(fees)) return fees;
  throw new AppError('node_answer_invalid', 'the node returned no fees for a block');
}

/** A transaction of the node's mempool. */
export interface NodeMempoolEntry {
  readonly vsize: number;
  readonly fee: Sats;
  /** Time when the transaction arrived at this node, in Unix seconds. */
  readonly time: number;
  /**
   * Number of unconfirmed transactions that this transaction depends on (ancestors), or that depend on this transaction
   * (descendants). The transaction itself is not counted.
   */
  readonly ancestors: number;
  readonly descendants: number;
}

/** A transaction in the node's mempool. Null if the mempool does not contain this transaction. */
export async function nodeMempoolEntry(node: NodeRpc, txid: Txid): Promise<NodeMempoolEntry | null> {
  const found = await ask<{
    vsize: number;
    time: number;
    fees: { base: number };
    ancestorcount: number;
    descendantcount: number;
  }>(node, 'getmempoolentry', [displayHash(txid)]);
  if (found === null) return null;
  return {
    vsize: found.vsize,
    fee: satsOfBitcoins(found.fees.base),
    time: found.time,
    ancestors: found.ancestorcount - 1,
    descendants: found.descendantcount - 1,
  };
}

/**
 * The txids of the transactions in the mempool that spend outputs, in the order of `outpoints`. A txid is null if the
 * mempool does not spend the output.
 */
export async function nodeSpenders(
  node: NodeRpc,
  outpoints: readonly Outpoint[],
): Promise<(string | null)[]> {
  if (outpoints.length === 0) return [];
  const asked = outpoints.map(({ txid, vout }) => ({ txid: displayHash(txid), vout }));
  const found = await node.call<{ spendingtxid?: string }[]>('gettxspendingprevout', [asked]);
  return outpoints.map((_, place) => found[place]?.spendingtxid ?? null);
}

/** Totals of the node's mempool. */
export interface NodeMempool {
  readonly transactions: number;
  readonly vsize: number;
  readonly fees: Sats;
}

export async function nodeMempool(node: NodeRpc): Promise<NodeMempool> {
  const {
    size,
    bytes,
    total_fee: fees,
  } = await node.call<{ size: number; bytes: number; total_fee: number }>('getmempoolinfo');
  return { transactions: size, vsize: bytes, fees: satsOfBitcoins(fees) };
}
