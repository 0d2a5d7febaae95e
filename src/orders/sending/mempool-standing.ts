import { satsOfBitcoins } from '#kernel/bitcoin/amount.ts';
import type { NodeRpc } from '#kernel/contracts/node.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { displayHash, type Txid } from '#kernel/primitives/hash.ts';
import type { ClusterLimits } from './node-standing.ts';
import { isUnspent } from './unspent-output.ts';

/** Error code RPC_INVALID_ADDRESS_OR_KEY. Here it means that the transaction is not in the mempool. */
const unknownKey = -5;

/** The node's data about a transaction in its mempool. */
export interface MempoolStanding {
  /**
   * The fee rate that a miner earns with the transaction, including its ancestors and the transactions that pay for it.
   * In sats per 1,000 virtual bytes.
   */
  readonly effectiveRate: bigint;
  /** Size of the transaction's cluster: all transactions that depend on each other, including this transaction. */
  readonly cluster: ClusterLimits;
}

/** The result of `getmempoolentry`. */
interface Entry {
  readonly vsize: number;
  readonly ancestorcount: number;
  readonly ancestorsize: number;
  readonly descendantcount: number;
  readonly descendantsize: number;
  /** Weight of the chunk that is mined together with the transaction. Reported since Bitcoin Core 31. */
  readonly chunkweight?: number;
  readonly fees: {
    readonly base: number;
    readonly ancestor: number;
    readonly descendant: number;
    readonly chunk?: number;
  };
}

/** Reads the node's data about a transaction in its mempool. Returns null if the transaction is not in the mempool. */
export async function mempoolStanding(node: NodeRpc, txid: Txid): Promise<MempoolStanding | null> {
  try {
    return standingOfEntry(await node.call<Entry>('getmempoolentry', [displayHash(txid)]));
  } catch (error) {
    if (error instanceof AppError && error.details['rpcCode'] === unknownKey) return null;
    throw error;
  }
}

/** Whether at least one of these outputs of a transaction is in a block and unspent there. */
export async function hasUnspentOutput(
  node: NodeRpc,
  txid: Txid,
  vouts: ReadonlySet<number>,
): Promise<boolean> {
  for (const vout of vouts) {
    if (await isUnspent(node, { txid, vout }, { mempool: false })) return true;
  }
  return false;
}

/** Converts the node's `getmempoolentry` reply. Pure. */
export function standingOfEntry(entry: Entry): MempoolStanding {
  const { ancestorcount, ancestorsize, descendantcount, descendantsize, vsize } = entry;
  return {
    effectiveRate: effectiveRate(entry),
    // minus one, because ancestors and descendants both include the transaction itself
    cluster: {
      count: ancestorcount + descendantcount - 1,
      virtualBytes: ancestorsize + descendantsize - vsize,
    },
  };
}

function effectiveRate({ fees, chunkweight, vsize, ancestorsize, descendantsize }: Entry): bigint {
  if (fees.chunk !== undefined && chunkweight !== undefined) return rateOf(fees.chunk, chunkweight / 4);
  const own = rateOf(fees.base, vsize);
  const withAncestors = rateOf(fees.ancestor, ancestorsize);
  const paidFor = rateOf(fees.descendant, descendantsize);
  const alone = own < withAncestors ? own : withAncestors;
  return alone > paidFor ? alone : paidFor;
}

/** Sats per 1,000 virtual bytes, rounded down. */
const rateOf = (fee: number, virtualBytes: number): bigint =>
  BigInt(Math.floor((satsOfBitcoins(fee) * 1000) / virtualBytes));
