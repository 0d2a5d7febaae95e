import type { NodeRpc } from '#kernel/contracts/node.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { displayHash, type Txid } from '#kernel/primitives/hash.ts';
import { type Refusal, refusalOf } from './refusal.ts';

/** RPC_VERIFY_ALREADY_IN_UTXO_SET (Bitcoin Core rpc/protocol.h): it is mined already. */
const alreadyMined = -27;
/** RPC_INVALID_ADDRESS_OR_KEY: here, a transaction that is not in the mempool. */
const unknownKey = -5;

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
export async function broadcast(node: NodeRpc, bytes: Uint8Array): Promise<Broadcast> {
  const hex = Buffer.from(bytes).toString('hex');
  const refusal = await tested(node, hex);
  if (refusal?.kind === 'held' || refusal?.kind === 'mined') return { outcome: refusal.kind, refusal: null };
  if (refusal !== null) return { outcome: 'refused', refusal };
  try {
    await node.call('sendrawtransaction', [hex]);
    return { outcome: 'held', refusal: null };
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'node_call_failed') throw error;
    if (error.details['rpcCode'] === alreadyMined) return { outcome: 'mined', refusal: null };
    // it would have taken it a moment ago
    return { outcome: 'refused', refusal: { kind: 'temporary', reason: error.message } };
  }
}

interface Tested {
  readonly allowed?: boolean;
  readonly 'reject-reason'?: string;
  /** From Bitcoin Core 29 on. */
  readonly 'reject-details'?: string;
}

async function tested(node: NodeRpc, hex: string): Promise<Refusal | null> {
  const [answer] = await node.call<readonly Tested[]>('testmempoolaccept', [[hex]]);
  if (answer?.allowed === true) return null;
  return refusalOf(answer?.['reject-reason'] ?? 'no reason given', answer?.['reject-details']);
}

/** Whether a transaction is in the node's mempool. */
export async function isInMempool(node: NodeRpc, txid: Txid): Promise<boolean> {
  try {
    await node.call('getmempoolentry', [displayHash(txid)]);
    return true;
  } catch (error) {
    if (error instanceof AppError && error.details['rpcCode'] === unknownKey) return false;
    throw error;
  }
}
