import type { StoredSale } from '#chain/sales/sale.queries.ts';
import { scriptToAddress } from '#kernel/bitcoin/address.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import { formatInscriptionId } from '#kernel/primitives/inscription-id.ts';
import type { NetworkParameters } from '#kernel/primitives/network.ts';
import type { SaleView } from '#kernel/sales/sale-view.ts';

export function saleView(sale: StoredSale, network: NetworkParameters): SaleView {
  const { revealTxid, index, txid, maker, taker, isWash, ...evidence } = sale;
  const ownerOf = (script: Uint8Array): string =>
    scriptToAddress(script, network) ?? Buffer.from(script).toString('hex');
  return {
    inscriptionId: formatInscriptionId(revealTxid, index),
    txid: displayHash(txid),
    ...evidence,
    maker: ownerOf(maker),
    taker: taker === null ? null : ownerOf(taker),
    wash: isWash,
  };
}
