import type { ClientBase } from 'pg';
import { idText } from '#http/market/collection-views.ts';
import { daySpans, totalIn } from '#http/pages/day-spans.ts';
import { marketReads } from '#http/server/access/guard.ts';
import { page as pageAnswer, unchanged } from '#http/server/routes/answer-schemas.ts';
import { ownerText } from '#kernel/bitcoin/stored-owner.ts';
import { displayHash, type Txid } from '#kernel/primitives/hash.ts';
import type { InscriptionId } from '#kernel/primitives/inscription-id.ts';
import type { NetworkParameters } from '#kernel/primitives/network.ts';
import type { MoveClass } from '#kernel/sales/sale-names.ts';
import { shownItems } from '#market/lists/shown-items.store.ts';
import type { DaySums } from '#market/sales/sale-sums.ts';
import type { Bar } from '#web/parts/chart.ts';
import type { SaleLine } from '#web/parts/sale-rows.ts';

/** Parts that the pages of the market share. */

export const pageConfig = { errors: 'ownPage', guard: marketReads, isDear: true } as const;
export const pageResponse = { 200: pageAnswer('the page'), 304: unchanged };

/** A sale in one of the lists. */
interface ListedSale {
  readonly class: MoveClass;
  readonly price: number;
  readonly time: number;
  readonly txid: Txid;
  readonly maker: Uint8Array;
  readonly taker: Uint8Array | null;
  readonly isWash: boolean;
}

/** An item that was sold. */
type SoldItem = Pick<SaleLine, 'name' | 'collection'> & { readonly id: InscriptionId };

/** Lines about sales of any inscriptions, with the names of the items and their collections. */
export async function marketSaleLines(
  client: ClientBase,
  sales: readonly (ListedSale & { readonly id: InscriptionId })[],
  network: NetworkParameters,
): Promise<SaleLine[]> {
  const items = await shownItems(
    client,
    sales.map(({ id }) => id),
  );
  return items.flatMap((item, nth) => {
    const sale = sales[nth];
    return sale === undefined ? [] : [saleLine(sale, item, network)];
  });
}

export const saleLine = (
  { price, time, txid, maker, taker, isWash, class: of }: ListedSale,
  { id, name, collection }: SoldItem,
  network: NetworkParameters,
): SaleLine => ({
  inscriptionId: idText(id),
  name,
  collection,
  class: of === 'offer' ? 'offer' : 'sale',
  price,
  time,
  txid: displayHash(txid),
  maker: ownerText(maker, network),
  taker: taker === null ? null : ownerText(taker, network),
  wash: isWash,
});

/** Daily volumes and mean prices, from the first to the last day with a sale. Wash trades are left out. */
export function barsOf(all: readonly DaySums[]): {
  readonly volumes: Bar[];
  readonly prices: Bar[];
} {
  const days = all.filter(({ sales }) => sales > 0);
  const [first, last] = [days[0]?.day, days.at(-1)?.day];
  const spans = first === undefined || last === undefined ? [] : daySpans(first, last);
  const sums = spans.map((span) => ({
    label: span.label,
    volume: totalIn(span, days, ({ volume }) => volume),
    sales: totalIn(span, days, ({ sales }) => sales),
  }));
  return {
    volumes: sums.map(({ label, volume }) => ({ label, count: volume, href: null })),
    prices: sums.map(({ label, volume, sales }) => ({
      label,
      count: sales === 0 ? 0 : Math.round(volume / sales),
      href: null,
    })),
  };
}
