import { type RawTransaction, RawTransactions } from '#indexer/transaction/raw-transaction.ts';
import { satsOfBitcoins } from '#kernel/bitcoin/amount.ts';
import { inLanes } from '#kernel/concurrency/in-lanes.ts';
import type { NodeRpc } from '#kernel/contracts/node.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { displayHash, type TxidHex } from '#kernel/primitives/hash.ts';
import { outpointText } from '#utxos/utxo.ts';
import type { FollowedTransaction } from './follow-contents.ts';
import type { MempoolTransaction } from './package-deficit.ts';

/** An unconfirmed transaction with the data that the node reports. */
export interface UnconfirmedTransaction extends MempoolTransaction, FollowedTransaction {
  readonly version: number;
  readonly descendants: { readonly count: number; readonly virtualBytes: number };
}

/**
 * An unconfirmed transaction with all its unconfirmed ancestors. In the list, each transaction comes after the
 * transactions that it spends.
 */
export interface MempoolPackage {
  readonly last: UnconfirmedTransaction;
  readonly transactions: readonly UnconfirmedTransaction[];
}

/** A reply to `getmempoolentry`. */
interface MempoolEntry {
  readonly vsize: number;
  readonly fees: { readonly base: number };
  readonly ancestorcount: number;
  readonly descendantcount: number;
  readonly descendantsize: number;
  readonly depends: readonly TxidHex[];
}

/**
 * Maximum number of concurrent calls. A node before Bitcoin Core 29 processes only 4 calls at a time by default, and
 * other callers need it, too.
 */
const callsMax = 2;
/** Error code RPC_INVALID_ADDRESS_OR_KEY. Here it means that the transaction is not in the mempool. */
const unknownKey = -5;

/**
 * Reads a transaction of the mempool with its ancestors. Returns null if the transaction is not in the mempool. Throws
 * the codes of NodeRpc, and `node_answer_invalid`.
 */
export async function mempoolPackage(node: NodeRpc, txid: TxidHex): Promise<MempoolPackage | null> {
  const own = await mempoolEntry(node, txid);
  const ancestors = await ifThere(
    node.call<Readonly<Record<TxidHex, MempoolEntry>>>('getmempoolancestors', [txid, true]),
  );
  if (own === null || ancestors === null) return null;
  const entries = [...(Object.entries(ancestors) as [TxidHex, MempoolEntry][]), [txid, own] as const];
  // sorted by the number of ancestors: a transaction always has fewer ancestors than its descendants
  const ordered = entries.toSorted(([, a], [, b]) => a.ancestorcount - b.ancestorcount);
  const transactions = await inLanes(ordered, callsMax, async ([id, entry]) => {
    const hex = await ifThere(node.call<string>('getrawtransaction', [id, false]));
    return hex === null ? null : unconfirmed(id, entry, hex);
  });
  const last = transactions.at(-1);
  // some of the transactions were mined meanwhile
  if (last === undefined || last === null || !transactions.every((each) => each !== null)) return null;
  return { last, transactions };
}

/**
 * Reads a transaction of the mempool without its ancestors. Returns null if the transaction is not in the mempool.
 * Throws the errors of `mempoolPackage`.
 */
export async function mempoolTransaction(node: NodeRpc, txid: TxidHex): Promise<RawTransaction | null> {
  if ((await mempoolEntry(node, txid)) === null) return null;
  const hex = await ifThere(node.call<string>('getrawtransaction', [txid, false]));
  return hex === null ? null : RawTransactions.one(Buffer.from(hex, 'hex'));
}

/** Reads the mempool's entry for a transaction. Returns null if the transaction is not in the mempool. */
export const mempoolEntry = (node: NodeRpc, txid: TxidHex): Promise<MempoolEntry | null> =>
  ifThere(node.call<MempoolEntry>('getmempoolentry', [txid]));

/** Waits for a node's reply about a mempool transaction. Returns null if the transaction is not in the mempool. */
async function ifThere<Answer>(call: Promise<Answer>): Promise<Answer | null> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof AppError && error.details['rpcCode'] === unknownKey) return null;
    throw error;
  }
}

function unconfirmed(txid: TxidHex, entry: MempoolEntry, hex: string): UnconfirmedTransaction {
  const { inputs, outputs, version } = RawTransactions.one(Buffer.from(hex, 'hex'));
  return {
    txid,
    version,
    virtualBytes: entry.vsize,
    fee: BigInt(satsOfBitcoins(entry.fees.base)),
    parents: entry.depends,
    descendants: { count: entry.descendantcount, virtualBytes: entry.descendantsize },
    inputs: inputs.map(({ previousTxid, previousVout, witness }) => ({
      outpoint: outpointText(displayHash(previousTxid), previousVout),
      witness,
    })),
    outputs,
  };
}
