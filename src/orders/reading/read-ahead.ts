import { type CheckedDestination, checkDestination } from '#kernel/bitcoin/destination.ts';
import { atOnce, Pauses, type Steps } from '#kernel/concurrency/work-in-steps.ts';
import type { Asker } from '#kernel/contracts/asker.ts';
import type { NetworkParameters } from '#kernel/primitives/network.ts';
import type { RequestText } from '#kernel/requests/request-values.ts';
import { orderBounds } from '#orders/inscribing/order-terms.ts';
import { type ReadDataUrl, readDataUrl } from './data-url.ts';

/**
 * Functions that read slow values. In an order of 50 MB, or with 10,000 receivers, such values take hundreds of
 * milliseconds.
 */
export interface ReadAhead {
  readonly dataUrl: (url: RequestText) => ReadDataUrl;
  readonly address: (address: string) => CheckedDestination;
}

/** Functions that read each slow value only when it is needed. */
export const readAtOnce = (network: NetworkParameters): ReadAhead => ({
  dataUrl: (url) => atOnce(readDataUrl(url)),
  // the postage is checked with the terms, and the service's own addresses are checked once for all destinations
  address: (address) => checkDestination({ address, network, amount: null }, 'later'),
});

/** Number of bytes whose decoding takes as long as reading one address. */
const addressBytes = 10 * 1024;

/**
 * Reads the data URLs and the addresses of an order in turns of the event loop, so the rest can be read without a
 * pause. If the value is not an order, there is nothing to read. Throws the reason of the asker's signal.
 */
export async function readAhead(
  order: unknown,
  network: NetworkParameters,
  asker: Asker,
): Promise<ReadAhead> {
  const rest = readAtOnce(network);
  const dataUrls = new Map<RequestText, ReadDataUrl>();
  const addresses = new Map<string, CheckedDestination>();
  await new Pauses(asker).run(steps());
  return {
    dataUrl: (url) => dataUrls.get(url) ?? rest.dataUrl(url),
    address: (address) => addresses.get(address) ?? rest.address(address),
  };

  function* steps(): Steps<void> {
    for (const url of dataUrlsIn(order)) {
      if (!dataUrls.has(url)) dataUrls.set(url, yield* readDataUrl(url));
    }
    for (const address of addressesIn(order)) {
      if (addresses.has(address)) continue;
      addresses.set(address, rest.address(address));
      yield addressBytes;
    }
  }
}

const fieldsOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};

/**
 * The items of a list. Returns no items if the list is longer than an order may have, because a body may have a million
 * items. The length of such a list is refused later.
 */
const itemsOf = (value: unknown, most: number): readonly unknown[] =>
  Array.isArray(value) && value.length <= most ? (value as readonly unknown[]) : [];

function* dataUrlsIn(order: unknown): Generator<RequestText> {
  const { files, delegates } = fieldsOf(order);
  for (const item of [...itemsOf(files, orderBounds.files), ...itemsOf(delegates, orderBounds.files)]) {
    const { dataURL, metadataDataURL } = fieldsOf(item);
    for (const url of [dataURL, metadataDataURL])
      if ((typeof url === 'string' && url !== '') || url instanceof Uint8Array) yield url;
  }
}

function* addressesIn(order: unknown): Generator<string> {
  const { receiveAddress, refundAddress, parent, parents } = fieldsOf(order);
  const returned = [parent, ...itemsOf(parents, orderBounds.parents)].map(
    (lent) => fieldsOf(lent)['returnAddress'],
  );
  const receivers = Array.isArray(receiveAddress)
    ? itemsOf(receiveAddress, orderBounds.files)
    : [receiveAddress];
  for (const address of [...receivers, refundAddress, ...returned])
    if (typeof address === 'string' && address !== '') yield address;
}
