import type { StoredSale } from '#chain/sales/sale.queries.ts';
import { ownerText } from '#kernel/bitcoin/stored-owner.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import { formatInscriptionId } from '#kernel/primitives/inscription-id.ts';
import type { NetworkParameters } from '#kernel/primitives/network.ts';
import type { SaleView } from '#kernel/sales/sale-view.ts';

export function saleView(sale: StoredSale, network: NetworkParameters): SaleView {
  const { revealTxid, index, txid, maker, taker, isWash, ...evidence } = sale;
  return {
    inscriptionId: formatInscriptionId(revealTxid, index),
    txid: displayHash(txid),
    ...evidence,
    maker: ownerText(maker, network),
    taker: taker === null ? null : ownerText(taker, network),
    wash: isWash,
  };
}
