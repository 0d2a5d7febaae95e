import assert from 'node:assert/strict';
import type { NodeRpc } from '#kernel/contracts/node.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import type { SignedTransaction } from '#purse/transactions/wallet-transactions.store.ts';
import { type Refusal, refusalOf } from './refusal.ts';

/** Error code RPC_VERIFY_ALREADY_IN_UTXO_SET (Bitcoin Core rpc/protocol.h): the transaction is already mined. */
const alreadyMined = -27;

/** The result of sending a transaction. */
export interface Broadcast {
  /** Result of the transaction: `held` if it is in the node's mempool, `mined` if it is in a block. */
  readonly outcome: 'held' | 'mined' | 'refused';
  /** The node's reason, or null if the transaction was not refused. */
  readonly refusal: Refusal | null;
}

/**
 * Sends a transaction to the node. First asks whether the node would accept it, because that reply has the reason as a
 * separate field and not in a sentence. Throws the codes of NodeRpc if the node does not answer. Idempotent, because
 * the node accepts a known transaction again.
 */
export async function broadcast(node: NodeRpc, transaction: Sent): Promise<Broadcast> {
  const hex = hexOf(transaction);
  const [refusal = null] = await tested(node, [hex]);
  if (refusal?.kind === 'held' || refusal?.kind === 'mined') return { outcome: refusal.kind, refusal: null };
  if (refusal !== null) return { outcome: 'refused', refusal };
  try {
    await node.call('sendrawtransaction', [hex, ...burning([transaction])]);
    return { outcome: 'held', refusal: null };
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'node_call_failed') throw error;
    if (error.details['rpcCode'] === alreadyMined) return { outcome: 'mined', refusal: null };
    // temporary, because the node would have accepted the transaction a moment ago
    return { outcome: 'refused', refusal: { kind: 'temporary', reason: error.message } };
  }
}

/** Parts of a transaction for the node: its bytes, and the sats that it burns. */
type Sent = Pick<SignedTransaction, 'bytes' | 'burned'>;

/**
 * Maximum fee rate that nodes send by default, in bitcoins per 1,000 virtual bytes (Bitcoin Core's
 * DEFAULT_MAX_RAW_TX_FEE_RATE). Needed only because this parameter comes before `maxburnamount`.
 */
const feeRateMax = '0.10';

/**
 * Parameters that a node needs to send an OP_RETURN output with sats: `maxburnamount`, in bitcoins (since Bitcoin Core
 * 25; for packages since 28). The list is empty if nothing is burned.
 */
function burning(transactions: readonly Sent[]): readonly string[] {
  const most = Math.max(...transactions.map(({ burned }) => burned));
  return most === 0 ? [] : [feeRateMax, (most / 100_000_000).toFixed(8)];
}

const hexOf = ({ bytes }: Sent): string => Buffer.from(bytes).toString('hex');

interface Tested {
  readonly allowed?: boolean;
  readonly 'reject-reason'?: string;
  /** Reported since Bitcoin Core 29. */
  readonly 'reject-details'?: string;
  /** The reason why the transactions are not accepted together, even if each one is valid. */
  readonly 'package-error'?: string;
}

/**
 * The node's reasons to refuse these transactions, in the same order. A transaction may spend earlier ones in the list.
 * The reason is null if the node accepts the transaction.
 */
async function tested(node: NodeRpc, hexes: readonly string[]): Promise<(Refusal | null)[]> {
  const answers = await node.call<readonly Tested[]>('testmempoolaccept', [hexes]);
  return hexes.map((_, place) => {
    const answer = answers[place];
    if (answer?.allowed === true) return null;
    const reason = answer?.['reject-reason'] ?? answer?.['package-error'] ?? notReached;
    return refusalOf(reason, answer?.['reject-details']);
  });
}

/**
 * The reason that the node reports for the transactions after a refused one, because it stops at the first transaction
 * that it refuses.
 */
const notReached = 'package-not-validated';

interface PackageAnswer {
  readonly package_msg: string;
  /** Results of the transactions, by wtxid. */
  readonly 'tx-results': Readonly<Record<string, { readonly txid: string; readonly error?: string }>>;
}

/**
 * Sends a transaction together with its unconfirmed parents, which pay too little alone. The node checks the common fee
 * rate (since Bitcoin Core 26). Returns the result of each transaction, in the same order. Throws the codes of NodeRpc
 * if the node does not answer.
 */
export async function broadcastPackage(
  node: NodeRpc,
  transactions: readonly SignedTransaction[],
): Promise<readonly Broadcast[]> {
  const hexes = transactions.map(hexOf);
  try {
    const answer = await node.call<PackageAnswer>('submitpackage', [hexes, ...burning(transactions)]);
    const results = Object.values(answer['tx-results']);
    return transactions.map(({ txid }): Broadcast => {
      const result = results.find((each) => each.txid === displayHash(txid));
      if (result !== undefined && result.error === undefined) return { outcome: 'held', refusal: null };
      return { outcome: 'refused', refusal: refusalOf(result?.error ?? answer.package_msg) };
    });
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'node_call_failed') throw error;
    return transactions.map(() => refusedFor({ kind: 'temporary', reason: error.message }));
  }
}

const refusedFor = (refusal: Refusal): Broadcast => ({ outcome: 'refused', refusal });

/**
 * Sends a reveal and its burn together: the node gets both transactions or neither. Anyone may spend the reveal's
 * output on an anchor, so no reveal may be published without the burn that spends this output. If the burn has no
 * result, the node already has the reveal, and the caller must send the burn alone. Throws the codes of NodeRpc if the
 * node does not answer.
 */
export async function broadcastWithBurn(
  node: NodeRpc,
  reveal: SignedTransaction,
  burn: SignedTransaction,
): Promise<{ readonly revealed: Broadcast; readonly burned: Broadcast | null }> {
  const [first = null, second = null] = await tested(node, [hexOf(reveal), hexOf(burn)]);
  if (first?.kind === 'mined' || first?.kind === 'held')
    return { revealed: { outcome: first.kind, refusal: null }, burned: null };
  if (first !== null && first.reason !== notReached) {
    const waiting = { kind: 'temporary', reason: notReached } as const;
    return { revealed: refusedFor(first), burned: refusedFor(waiting) };
  }
  const refusal = second ?? first;
  if (refusal !== null) {
    const reason = `its burn would be refused: ${refusal.reason}`;
    return { revealed: refusedFor({ kind: refusal.kind, reason }), burned: refusedFor(refusal) };
  }
  const [revealed, burned] = await broadcastPackage(node, [reveal, burn]);
  assert(revealed !== undefined && burned !== undefined, 'each transaction of a package has an answer');
  return { revealed, burned };
}
