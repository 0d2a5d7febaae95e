import type pg from 'pg';
import type { NodeRpc } from '#kernel/contracts/node.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import type { Txid } from '#kernel/primitives/hash.ts';
import { markSent } from './order-transactions.store.ts';

/** RPC_VERIFY_ALREADY_IN_UTXO_SET (Bitcoin Core rpc/protocol.h): it is mined already. */
const alreadyMined = -27;

/**
 * Sends a stored transaction to the node and notes what it said. Returns why it refused; null: it has it. Throws the
 * codes of NodeRpc where it does not answer. What it takes once it takes again: sending twice does nothing more.
 */
export async function broadcast(
  client: pg.ClientBase,
  node: NodeRpc,
  { txid, bytes }: { readonly txid: Txid; readonly bytes: Uint8Array },
): Promise<string | null> {
  const refusal = await send(node, bytes);
  await markSent(client, txid, refusal);
  return refusal;
}

async function send(node: NodeRpc, bytes: Uint8Array): Promise<string | null> {
  try {
    await node.call('sendrawtransaction', [Buffer.from(bytes).toString('hex')]);
    return null;
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'node_call_failed') throw error;
    return error.details['rpcCode'] === alreadyMined ? null : error.message;
  }
}
