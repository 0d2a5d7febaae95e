import type { NodeRpc } from '#kernel/contracts/node.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { displayHash, type Txid } from '#kernel/primitives/hash.ts';
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

interface PackageAnswer {
  readonly package_msg: string;
  /** By wtxid. */
  readonly 'tx-results': Readonly<Record<string, { readonly txid: string; readonly error?: string }>>;
}

/**
 * Sends a transaction together with those that it spends and that pay too little by themselves: the node judges them by
 * what all of them pay (Bitcoin Core 26). Throws the codes of NodeRpc where it does not answer.
 */
export async function broadcastPackage(
  node: NodeRpc,
  parents: readonly Uint8Array[],
  child: Uint8Array,
  childTxid: Txid,
): Promise<Broadcast> {
  const hexes = [...parents, child].map((bytes) => Buffer.from(bytes).toString('hex'));
  try {
    const answer = await node.call<PackageAnswer>('submitpackage', [hexes]);
    const txid = displayHash(childTxid);
    const result = Object.values(answer['tx-results']).find((each) => each.txid === txid);
    if (result !== undefined && result.error === undefined) return { outcome: 'held', refusal: null };
    return { outcome: 'refused', refusal: refusalOf(result?.error ?? answer.package_msg) };
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'node_call_failed') throw error;
    return { outcome: 'refused', refusal: { kind: 'temporary', reason: error.message } };
  }
}
