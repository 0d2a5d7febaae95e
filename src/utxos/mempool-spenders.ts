import type { NodeRpc } from '#kernel/contracts/node.ts';
import { displayHash, type Txid, type TxidHex } from '#kernel/primitives/hash.ts';
import { outpointText } from './utxo.ts';

/** Finds transactions in the node's mempool that spend these outputs. The keys are `<txid>:<vout>` of the outputs. */
export async function mempoolSpenders(
  node: NodeRpc,
  outputs: readonly { readonly txid: Txid; readonly vout: number }[],
): Promise<ReadonlyMap<string, TxidHex>> {
  if (outputs.length === 0) return new Map();
  const asked = outputs.map(({ txid, vout }) => ({ txid: displayHash(txid), vout }));
  const found = await node.call<
    readonly { readonly txid: TxidHex; readonly vout: number; readonly spendingtxid?: TxidHex }[]
  >('gettxspendingprevout', [asked]);
  return new Map(
    found.flatMap(({ txid, vout, spendingtxid }) =>
      spendingtxid === undefined ? [] : [[outpointText(txid, vout), spendingtxid] as const],
    ),
  );
}
