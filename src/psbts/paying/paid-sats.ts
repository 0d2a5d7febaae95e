import { parseOutpoint } from '#kernel/bitcoin/parse-outpoint.ts';
import type { Asker } from '#kernel/contracts/asker.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import type { SatRange } from '#kernel/sats/sat-range.ts';
import { lookedUp } from '#orders/order/coin-selection.ts';
import { countedNow, type OpenOrder } from '#orders/paying/open-order.ts';
import { outpointText } from '#utxos/utxo.ts';
import type { UtxoReader } from '#utxos/utxo-reader.ts';

/**
 * Adds the sats of the order's confirmed coins, if the order requires certain sats. Only sats that the delivery would
 * look up are read. Each look-up is a walk through the chain, and a stranger may send a thousand coins. Throws the
 * codes of UtxoReader.
 */
export async function withSats(
  utxos: Pick<UtxoReader, 'outputs' | 'sats'>,
  order: OpenOrder,
  asker: Asker,
): Promise<OpenOrder> {
  if (order.allowedSatributes === null) return order;
  const { costs, records } = order;
  const looked = lookedUp(countedNow(records, records.order), costs).filter(({ height }) => height !== null);
  if (looked.length === 0) return order;
  const outpoints = looked.flatMap(({ outpoint }) => parseOutpoint(outpoint) ?? []);
  const there = (await utxos.outputs(outpoints)).filter((output) => output !== null);
  const sats = await utxos.sats(there, asker, []);
  const ranges = new Map<string, readonly SatRange[]>(
    there.flatMap(({ txid, vout }, place) => {
      const held = sats[place];
      return held?.state === 'known' ? [[outpointText(displayHash(txid), vout), held.ranges] as const] : [];
    }),
  );
  return {
    ...order,
    coins: order.coins.map((coin) => ({ ...coin, ranges: ranges.get(coin.outpoint) ?? null })),
  };
}
