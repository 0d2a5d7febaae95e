import type pg from 'pg';
import type { InventoryType } from '#inventory/inventory-types.ts';
import type { Asker } from '#kernel/contracts/asker.ts';
import type { NetworkParameters } from '#kernel/primitives/network.ts';
import type { Faulty, RequestFault } from '#kernel/requests/request-values.ts';
import type { SatributeBook } from '#kernel/satributes/satribute-book.ts';
import type { OrderedItem, OrderedItems } from '#orders/collections/ordered-items.ts';
import { etchingFaults } from '#orders/etching/etching-faults.ts';
import type { NamedFiles, OwnFiles } from '#orders/files/own-files.ts';
import type { FileTerms, OrderTerms } from '#orders/inscribing/order-terms.ts';
import { withMintedRune } from '#orders/minting/minted-rune.ts';
import { burnFaults, feeFaults } from '#orders/pricing/fee-faults.ts';
import { namedInscriptionFaults } from '#orders/pricing/named-inscriptions.ts';
import type { PriceSettings } from '#orders/pricing/prices.ts';
import { type DescribedOrder, describeOrder } from '#orders/reading/describe-order.ts';
import { encodeContents } from '#orders/reading/encode-contents.ts';
import { readAhead } from '#orders/reading/read-ahead.ts';
import type { OrderExtras } from '#orders/reading/read-extras.ts';
import { type ReadFile, urlsOf } from '#orders/reading/read-files.ts';
import type { OrderContents, ReadOrder } from '#orders/reading/read-order.ts';
import type { NodePolicy } from '#orders/sending/node-policy.store.ts';
import type { SentFile, WantedOrder } from './create-order.ts';
import { destinationFaults } from './destination-faults.ts';
import type { FetchedContents } from './fetch-contents.ts';

/** Settings and look-ups of the service. `CustomerOrders` implements them. */
export interface OrderLookups {
  /** Timeout of an order whose request names no timeout, in minutes. */
  readonly timeoutMinutes: number;
  /** The reason why the service sends nothing to a URL. Null if the URL is allowed. */
  urlProblem(url: string): string | null;
  /** Fee rates that the node accepts. Null if they are not known. */
  nodePolicy(signal: AbortSignal): Promise<NodePolicy | null>;
  /** Whether an order may name a referral. Throws `rate_limited` for clients that guess codes. */
  isReferral(code: string, asker: Asker): Promise<boolean>;
  /** Returns those of the given scripts that belong to the service. */
  ownScriptsAmong(scripts: readonly Uint8Array[], signal: AbortSignal): Promise<readonly Uint8Array[]>;
  /** Fetches the contents at URLs. Throws the reason of the signal. */
  fetch(files: readonly ReadFile[], ours: NamedFiles, signal: AbortSignal): Promise<FetchedContents>;
}

export interface CheckingParts {
  readonly network: NetworkParameters;
  readonly settings: PriceSettings;
  /** Connections to the index. */
  readonly pool: pg.Pool;
  /** The satribute definitions that are in force now. */
  readonly satributes: () => SatributeBook;
  readonly lookups: OrderLookups;
  /** Files of this service that the order may name by URL. */
  readonly own: OwnFiles;
  /**
   * Waits until no other order with long contents is being created. Then other orders with long contents wait until the
   * answer to this order is complete. Throws if the wait is too long.
   */
  readonly takeLongPlace: () => Promise<void>;
  /**
   * Takes one of the slots for orders that fetch files, and keeps it until the answer is sent. Throws if all slots are
   * taken.
   */
  readonly takeFetchPlace: () => void;
}

/** The request of an order, as the client sent it. */
export interface SentOrder {
  readonly type: OrderTerms['type'];
  readonly contents: OrderContents;
  /** Items of a collection, which replace contents of the body. Null if the order is not for a collection. */
  readonly items: OrderedItems | null;
  readonly body: unknown;
  /** Origin of the URLs of the order's files. */
  readonly origin: string;
}

/** An order whose request has no faults, with all contents. */
export interface CheckedOrder {
  readonly kind: 'checked';
  /** The order to create, without the fields that the quote adds. */
  readonly order: Omit<WantedOrder, 'layout' | 'quote' | 'planned' | 'request' | 'stocked' | 'rune'>;
  readonly read: ReadOrder;
  readonly extras: OrderExtras;
  readonly policy: NodePolicy | null;
  /** The type of inventory sats that the order wants. Null if the order wants no inventory sats. */
  readonly satType: InventoryType | null;
  /** The items that the order inscribes. Null if the order is not for a collection. */
  readonly items: OrderedItems | null;
}

/**
 * Maximum number of bytes that are compressed before an order is answered. Compressing these bytes takes a few hundred
 * milliseconds of a thread.
 */
const compressMax = 4_000_000;

/**
 * Checks an order and fetches its contents, before anything is quoted or stored. Throws `inscription_not_indexed`,
 * `overloaded`, `rate_limited`, and the reason of the asker's signal.
 */
export async function checkOrder(
  parts: CheckingParts,
  sent: SentOrder,
  asker: Asker,
): Promise<CheckedOrder | Faulty> {
  const { network, settings, satributes, lookups } = parts;
  const described = describeOrder(sent.body, {
    network,
    type: sent.type,
    contents: sent.contents,
    items: sent.items,
    nonStandard: settings.nonStandard,
    purpose: 'order',
    ahead: await readAhead(sent.body, network, asker),
    satributes,
    timeoutMinutes: lookups.timeoutMinutes,
    urlProblem: (url) => lookups.urlProblem(url),
  });
  if (described.kind === 'faulty') return described;
  const { read, extras, satType } = described;
  const policy = await parts.lookups.nodePolicy(asker.signal);
  const faults = await valueFaults(parts, described, policy, asker);
  if (faults.length > 0) return { kind: 'faulty', faults };
  const named = [
    ...(await etchingFaults(parts.pool, network, read.terms, asker.signal)),
    ...(await namedInscriptionFaults(parts.pool, read.terms, asker)),
  ];
  if (named.length > 0) return { kind: 'faulty', faults: named };
  const minted = await withMintedRune(parts.pool, read.terms, asker.signal);
  if (minted.kind === 'faulty') return minted;
  const contents = await readContents(parts, { ...read, terms: minted.terms }, asker);
  if (contents.kind === 'faulty') return contents;
  const { terms } = contents;
  return {
    kind: 'checked',
    read,
    extras,
    policy,
    satType,
    items: sent.items,
    order: {
      terms,
      files: read.files.map((file, index) => sentFile(file, terms.files[index], sent.items?.items[index])),
      hold: sent.items?.orderId ?? null,
      webhookUrl: extras.webhookUrl,
      refundScript: extras.refundScript,
      timeoutMinutes: extras.timeoutMinutes,
      filesUrl: (key) => `${sent.origin}/files/${encodeURIComponent(key)}`,
    },
  };
}

/** Collects all faults of an order's values. */
async function valueFaults(
  { lookups }: CheckingParts,
  { read, extras, faults }: DescribedOrder,
  policy: NodePolicy | null,
  asker: Asker,
): Promise<readonly RequestFault[]> {
  const destinations = { terms: read.terms, refundScript: extras.refundScript };
  return [
    ...faults,
    ...(await destinationFaults(destinations, (scripts) => lookups.ownScriptsAmong(scripts, asker.signal))),
    ...feeFaults(read.terms, policy),
    ...burnFaults(read.terms, policy),
    ...(await referralFaults(lookups, read, asker)),
  ];
}

/** The fault of an unknown referral. Without this check, the customer would pay a share to no one. */
async function referralFaults(
  lookups: OrderLookups,
  { referral }: ReadOrder,
  asker: Asker,
): Promise<RequestFault[]> {
  if (referral === null || (await lookups.isReferral(referral, asker))) return [];
  const message = `The referral ${referral.slice(0, 64)} is unknown. Register it with POST /referrals.`;
  return [{ message, parameter: 'referral' }];
}

/** The terms of an order, with the bytes of all contents. */
async function readContents(
  { lookups, own, takeFetchPlace, takeLongPlace }: CheckingParts,
  read: ReadOrder,
  asker: Asker,
): Promise<{ readonly kind: 'contents'; readonly terms: OrderTerms } | Faulty> {
  const urls = urlsOf(read.files);
  if (urls.some((url) => !own.isOwn(url))) takeFetchPlace();
  const ours = await own.find(urls, asker.signal);
  // even a short request may name very long contents, so long contents are read for only one order at a time
  const isLong = ownBytes(ours, urls) > longBytes;
  if (isLong) await takeLongPlace();
  const fetched = await lookups.fetch(read.files, ours, asker.signal);
  if (fetched.faults.length > 0) return { kind: 'faulty', faults: fetched.faults };
  if (!isLong && bytesOf(read, fetched) > longBytes) await takeLongPlace();
  const encoded = await encodeContents(read, { bodies: 'bytes', compressMax, asker });
  return encoded.kind === 'faulty'
    ? encoded
    : { kind: 'contents', terms: withFetched(encoded.terms, fetched) };
}

/**
 * Maximum number of bytes of contents and metadata that may be handled for several orders at the same time. Above this
 * limit, only one order is made at a time. The bytes are in memory three times (decoded, as CBOR of metadata, and in
 * leaves).
 */
const longBytes = 4_000_000;

/** Total number of bytes at those URLs that belong to this service. */
function ownBytes(ours: NamedFiles, urls: readonly string[]): number {
  const lengths = urls.map((url) => ours.bytesAt(url));
  return lengths.reduce<number>((sum, bytes) => sum + (typeof bytes === 'number' ? bytes : 0), 0);
}

/** Total number of bytes of contents and metadata that were sent or fetched. */
function bytesOf({ files }: ReadOrder, { bodies, metadata }: FetchedContents): number {
  const sent = files.flatMap((file) => [file.body, file.metadata]);
  const fetched = [...bodies.values(), ...metadata.values()];
  return [
    ...sent.map((source) => (source?.kind === 'data' ? source.data.bytes : 0)),
    ...fetched.map(({ length }) => length),
  ].reduce((sum, bytes) => sum + bytes, 0);
}

function withFetched(terms: OrderTerms, { bodies, metadata }: FetchedContents): OrderTerms {
  if (bodies.size === 0 && metadata.size === 0) return terms;
  const files = terms.files.map(
    (file, index): FileTerms => ({
      ...file,
      body: bodies.get(index) ?? file.body,
      metadata: metadata.get(index) ?? file.metadata,
    }),
  );
  return { ...terms, files };
}

function sentFile(
  { name, terms }: ReadFile,
  made: FileTerms | undefined,
  item: OrderedItem | undefined,
): SentFile | null {
  const body = made?.body;
  if (name === null || !(body instanceof Uint8Array)) return null;
  return {
    name,
    content: body,
    // the stored file has the approved bytes, even if `compress` makes the inscribed bytes shorter
    ...(item === undefined ? {} : { stored: item.sha256 }),
    mediaType: terms.contentType ?? 'application/octet-stream',
    shown: {
      name,
      size: body.length,
      type: terms.contentType,
      mimeType: terms.contentType,
      metadataSize: made?.metadata instanceof Uint8Array ? made.metadata.length : null,
    },
  };
}
