import { type RawTransaction, RawTransactions } from '#indexer/transaction/raw-transaction.ts';
import { satsOfBitcoins } from '#kernel/bitcoin/amount.ts';
import { inLanes } from '#kernel/concurrency/in-lanes.ts';
import type { NodeRpc } from '#kernel/contracts/node.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { displayHash, type TxidHex } from '#kernel/primitives/hash.ts';
import { outpointText } from '#utxos/utxo.ts';
import type { FollowedTransaction } from './follow-contents.ts';
import type { MempoolTransaction } from './package-deficit.ts';

/** An unconfirmed transaction, as the node has it. */
export interface UnconfirmedTransaction extends MempoolTransaction, FollowedTransaction {
  readonly version: number;
  readonly descendants: { readonly count: number; readonly virtualBytes: number };
}

/** An unconfirmed transaction with all its unconfirmed ancestors, each after those that it spends. */
export interface MempoolPackage {
  readonly last: UnconfirmedTransaction;
  readonly transactions: readonly UnconfirmedTransaction[];
}

/** An answer of `getmempoolentry`. */
interface MempoolEntry {
  readonly vsize: number;
  readonly fees: { readonly base: number };
  readonly ancestorcount: number;
  readonly descendantcount: number;
  readonly descendantsize: number;
  readonly depends: readonly TxidHex[];
}

/** Maximum number of concurrent calls. bitcoind processes four at once, and others need it too. */
const callsMax = 2;
/** RPC_INVALID_ADDRESS_OR_KEY: here, a transaction that is not in the mempool. */
const unknownKey = -5;

/**
 * A transaction of the mempool with its ancestors. Null: the mempool does not have it. Throws the codes of NodeRpc, and
 * `node_answer_invalid`.
 */
export async function mempoolPackage(node: NodeRpc, txid: TxidHex): Promise<MempoolPackage | null> {
  const own = await mempoolEntry(node, txid);
  const ancestors = await ifThere(
    node.call<Readonly<Record<TxidHex, MempoolEntry>>>('getmempoolancestors', [txid, true]),
  );
  if (own === null || ancestors === null) return null;
  const entries = [...(Object.entries(ancestors) as [TxidHex, MempoolEntry][]), [txid, own] as const];
  // an ancestor has fewer ancestors than its descendants
  const ordered = entries.toSorted(([, a], [, b]) => a.ancestorcount - b.ancestorcount);
  const transactions = await inLanes(ordered, callsMax, async ([id, entry]) => {
    const hex = await ifThere(node.call<string>('getrawtransaction', [id, false]));
    return hex === null ? null : unconfirmed(id, entry, hex);
  });
  const last = transactions.at(-1);
  // a block has taken some of them meanwhile
  if (last === undefined || last === null || !transactions.every((each) => each !== null)) return null;
  return { last, transactions };
}

/** A transaction of the mempool alone. Null: the mempool does not have it. Throws as `mempoolPackage`. */
export async function mempoolTransaction(node: NodeRpc, txid: TxidHex): Promise<RawTransaction | null> {
  if ((await mempoolEntry(node, txid)) === null) return null;
  const hex = await ifThere(node.call<string>('getrawtransaction', [txid, false]));
  return hex === null ? null : RawTransactions.one(Buffer.from(hex, 'hex'));
}

/** A transaction as the mempool lists it. Null: the mempool does not have it. */
export const mempoolEntry = (node: NodeRpc, txid: TxidHex): Promise<MempoolEntry | null> =>
  ifThere(node.call<MempoolEntry>('getmempoolentry', [txid]));

/** The node's answer about a transaction of the mempool. Null: it is not there. */
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
