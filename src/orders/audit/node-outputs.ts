import { satsOfBitcoins } from '#kernel/bitcoin/amount.ts';
import type { NodeRpc } from '#kernel/contracts/node.ts';
import { inLanes } from '#kernel/in-lanes.ts';
import type { Coin } from './audited-order.ts';

/** Calls at once: bitcoind works on four, and others ask too. */
const lanes = 2;

/** Which of these outputs are unspent in the node's best chain, whatever its mempool spends. */
export async function unspentOf(
  node: NodeRpc,
  outpoints: readonly string[],
  signal?: AbortSignal,
): Promise<ReadonlyMap<string, Coin>> {
  const found = await inLanes(outpoints, lanes, async (outpoint): Promise<Coin | null> => {
    const [txid, vout] = outpoint.split(':');
    const output = await node.call<TxOut | null>(
      'gettxout',
      [txid, Number(vout), false],
      signal === undefined ? {} : { signal },
    );
    if (output === null) return null;
    return { outpoint, value: BigInt(satsOfBitcoins(output.value)), script: output.scriptPubKey.hex };
  });
  return new Map(found.flatMap((coin) => (coin === null ? [] : [[coin.outpoint, coin]])));
}

interface TxOut {
  /** Bitcoins. */
  readonly value: number;
  readonly scriptPubKey: { readonly hex: string };
}

export const bestBlock = (node: NodeRpc): Promise<string> => node.call<string>('getbestblockhash');
