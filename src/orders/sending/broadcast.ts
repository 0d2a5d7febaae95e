import assert from 'node:assert/strict';
import type { NodeRpc } from '#kernel/contracts/node.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import type { SignedTransaction } from '#purse/transactions/wallet-transactions.store.ts';
import { type Refusal, refusalOf } from './refusal.ts';

/** RPC_VERIFY_ALREADY_IN_UTXO_SET (Bitcoin Core rpc/protocol.h): it is mined already. */
const alreadyMined = -27;

/** What became of a transaction that was sent. */
export interface Broadcast {
  /** `held`: the node's mempool has it. `mined`: a block has it. */
  readonly outcome: 'held' | 'mined' | 'refused';
  /** Null: it was not refused. */
  readonly refusal: Refusal | null;
}

/**
 * Sends a transaction to the node, which is asked first whether it takes it: that gives its reason, not a sentence with
 * it. Throws the codes of NodeRpc where it does not answer. What it takes once it takes again: sending twice does
 * nothing more.
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
    // it would have taken it a moment ago
    return { outcome: 'refused', refusal: { kind: 'temporary', reason: error.message } };
  }
}

/** What a node is sent of a transaction: its bytes, and the sats that it burns. */
type Sent = Pick<SignedTransaction, 'bytes' | 'burned'>;

/**
 * Bitcoins for 1,000 virtual bytes that nodes send at most by themselves (Bitcoin Core's DEFAULT_MAX_RAW_TX_FEE_RATE): the
 * parameter before the one that is needed.
 */
const feeRateMax = '0.10';

/**
 * The parameters without which a node sends no OP_RETURN output with sats: `maxburnamount`, in bitcoins (Bitcoin Core 25; of
 * packages 28). None where nothing is burned.
 */
function burning(transactions: readonly Sent[]): readonly string[] {
  const most = Math.max(...transactions.map(({ burned }) => burned));
  return most === 0 ? [] : [feeRateMax, (most / 100_000_000).toFixed(8)];
}

const hexOf = ({ bytes }: Sent): string => Buffer.from(bytes).toString('hex');

interface Tested {
  readonly allowed?: boolean;
  readonly 'reject-reason'?: string;
  /** From Bitcoin Core 29 on. */
  readonly 'reject-details'?: string;
  /** Why transactions are not taken together, whatever each of them is. */
  readonly 'package-error'?: string;
}

/** Why the node does not take these transactions, each of which may spend those before it; null: it does. */
async function tested(node: NodeRpc, hexes: readonly string[]): Promise<(Refusal | null)[]> {
  const answers = await node.call<readonly Tested[]>('testmempoolaccept', [hexes]);
  return hexes.map((_, place) => {
    const answer = answers[place];
    if (answer?.allowed === true) return null;
    const reason = answer?.['reject-reason'] ?? answer?.['package-error'] ?? notReached;
    return refusalOf(reason, answer?.['reject-details']);
  });
}

/** Of several the node finishes none, and stops at the first one that it does not take. */
const notReached = 'package-not-validated';

interface PackageAnswer {
  readonly package_msg: string;
  /** By wtxid. */
  readonly 'tx-results': Readonly<Record<string, { readonly txid: string; readonly error?: string }>>;
}

/**
 * Sends a transaction together with those that it spends and that pay too little by themselves: the node judges them by
 * what all of them pay (Bitcoin Core 26). What became of each, in their order. Throws the codes of NodeRpc where it does not
 * answer.
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
 * Sends a reveal with its burn: both or none. Anybody may spend what lies on an anchor, so no reveal is to be known without the
 * burn that spends it. Without an answer for the burn the node has the reveal already, and the burn goes alone. Throws the codes
 * of NodeRpc where it does not answer.
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
