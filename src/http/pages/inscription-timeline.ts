import type { Transfer } from '#chain/inscriptions/transfer.queries.ts';
import { scriptToAddress } from '#kernel/bitcoin/address.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import { asHeight } from '#kernel/primitives/height.ts';
import type { NetworkParameters } from '#kernel/primitives/network.ts';
import type { SaleView } from '#kernel/sales/sale-view.ts';
import type { Party, TimelineEvent } from '#web/parts/timeline.ts';

/**
 * Transfers and sales as one list, newest first. A sale is also a transfer; the list has one entry for both. Sales that
 * are older than all given transfers are at the end.
 *
 * @param transfers newest first
 * @param sales newest first
 */
export function timelineOf(
  transfers: readonly Transfer[],
  sales: readonly SaleView[],
  network: NetworkParameters,
): TimelineEvent[] {
  const sold = new Map(sales.map((sale) => [sale.txid, sale]));
  const events = transfers.map((transfer): TimelineEvent => {
    const { kind, height, timestamp, script, formerScript } = transfer;
    const txid = transfer.txid === null ? null : displayHash(transfer.txid);
    const sale = txid === null ? undefined : sold.get(txid);
    if (sale !== undefined && kind === 'transfer') return saleEvent(sale);
    return {
      kind,
      height,
      time: timestamp,
      txid,
      from: formerScript === null ? null : partyOf(formerScript, network),
      to: script === null || kind === 'burned' ? null : partyOf(script, network),
      sale: null,
    };
  });
  const shown = new Set(events.map(({ txid }) => txid));
  const others = sales.filter(({ txid }) => !shown.has(txid)).map((sale) => saleEvent(sale));
  return [...events, ...others].toSorted((a, b) => b.height - a.height);
}

function saleEvent(sale: SaleView): TimelineEvent {
  const { height, time, txid, maker, taker, price, wash } = sale;
  return {
    kind: 'sale',
    height: asHeight(height),
    time,
    txid,
    from: partyNamed(maker),
    to: taker === null ? null : partyNamed(taker),
    sale: { price, isWash: wash },
  };
}

/**
 * Form of the name of a script without an address. The name is the script's hex, or a hash if the script is long. Such
 * scripts have no page.
 */
const scriptNameLike = /^(?:sha256:)?[0-9a-f]*$/u;

const partyNamed = (text: string): Party => ({ text, isAddress: !scriptNameLike.test(text) });

function partyOf(script: Uint8Array, network: NetworkParameters): Party | null {
  const address = scriptToAddress(script, network);
  return address === null ? null : { text: address, isAddress: true };
}
