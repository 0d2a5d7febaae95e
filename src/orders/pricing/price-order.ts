import { nextTurn } from '#kernel/concurrency/turns.ts';
import type { Asker } from '#kernel/contracts/asker.ts';
import type { SearchService } from '#kernel/contracts/search-service.ts';
import type { NetworkParameters } from '#kernel/primitives/network.ts';
import type { Faulty } from '#kernel/requests/request-values.ts';
import type { SatributeBook } from '#kernel/satributes/satribute-book.ts';
import { etchingFaults } from '#orders/etching/etching-faults.ts';
import type { OwnFiles } from '#orders/files/own-files.ts';
import type { OrderQuote } from '#orders/inscribing/quote-order.ts';
import { withMintedRune } from '#orders/minting/minted-rune.ts';
import { encodeContents } from '#orders/reading/encode-contents.ts';
import { readAhead } from '#orders/reading/read-ahead.ts';
import { type PriceBody, readPriceBody, readPriceQuery } from '#orders/reading/read-price.ts';
import type { NodePolicy } from '#orders/sending/node-policy.store.ts';
import type { AskedRune } from '#tokenpay/inscribing/ask-for-rune.ts';
import { type AmountWarning, amountWarnings } from './amount-warnings.ts';
import { type FeeWarnings, feeWarnings } from './fee-faults.ts';
import { withOwnLengths } from './own-lengths.ts';
import { drawnOf, itemsOfPrice, runeOf } from './priced-collection.ts';
import { type PriceSettings, pricesOf, quoted, withCollection } from './prices.ts';
import { type Saving, savingsOf } from './savings.ts';
import { priceSats, type Stock } from './stocked-sats.ts';

export interface PricingParts extends Stock {
  readonly network: NetworkParameters;
  readonly settings: PriceSettings;
  readonly search: Pick<SearchService, 'hashes'>;
  /** Fee rates that the node accepts. Null if unknown. */
  readonly nodePolicy: (signal: AbortSignal) => Promise<NodePolicy | null>;
  /** The active definitions. */
  readonly satributes: () => SatributeBook;
  /** The reason why nothing is sent to a URL. Null if the URL is allowed. */
  readonly urlProblem: (url: string) => string | null;
  /** Files of this service that an order may name by URL. Null if this service keeps no files. */
  readonly own: OwnFiles | null;
}

/** The exact price of an order, in sats. */
export interface PricedOrder {
  readonly kind: 'priced';
  readonly quote: OrderQuote;
  /** Additional fee per file, in sats. */
  readonly additionalFee: bigint;
  /** Reasons why the order may cost another amount. Empty if the order costs exactly this amount. */
  readonly warnings: readonly AmountWarning[];
  /** A rune that is paid in addition to the sats. Null if only sats are paid. */
  readonly rune: AskedRune | null;
}

/** Savings and refusals, which a plan shows in addition to the transactions. */
export interface PricePlan {
  readonly savings: readonly Saving[];
  /** Faults that would cause a refusal of the order. */
  readonly refused: FeeWarnings;
}

/** Maximum number of bytes that are compressed for a price. Brotli takes about a second per megabyte. */
const compressMax = 300_000;

/**
 * Prices an order. With `isPlanned`, also makes its plan. Throws the reason of the asker's signal, `overloaded` and
 * `orders_off`.
 */
export async function priceOrder(
  parts: PricingParts,
  body: PriceBody,
  isPlanned: boolean,
  asker: Asker,
): Promise<(PricedOrder & { readonly plan: PricePlan | null }) | Faulty> {
  const { network, settings, search, nodePolicy, satributes, urlProblem, own } = parts;
  await nextTurn(asker.client);
  const { nonStandard } = settings;
  const ahead = await readAhead(body.order, network, asker);
  const isOwnUrl = (url: string): boolean => own?.isOwn(url) ?? false;
  const items = await itemsOfPrice(parts, body, asker);
  if (items !== null && 'kind' in items) return items;
  const described = readPriceBody(body, {
    network,
    nonStandard,
    ahead,
    satributes,
    urlProblem,
    isOwnUrl,
    items,
  });
  if (described.kind === 'faulty') return described;
  const unable = await etchingFaults(parts.pool, network, described.read.terms, asker.signal);
  if (unable.length > 0) return { kind: 'faulty', faults: unable };
  const minted = await withMintedRune(parts.pool, described.read.terms, asker.signal);
  if (minted.kind === 'faulty') return minted;
  const known = { ...described.read, terms: minted.terms };
  const read = own === null ? known : await withOwnLengths(known, own, asker);
  if (read.kind === 'faulty') return read;
  const encoding = { bodies: 'lengths', compressMax, asker } as const;
  const encoded = await encodeContents(read, encoding);
  if (encoded.kind === 'faulty') return encoded;
  const sats = await priceSats(parts, read.rareSats, encoded.terms, asker);
  if (sats.kind === 'faulty') return sats;
  const { terms, rareSatsFee } = sats;
  const prices = withCollection({ ...pricesOf(terms.type, settings, asker), rareSatsFee }, items, settings);
  await nextTurn(asker.client);
  const quote = quoted(terms, prices);
  if (quote.kind === 'faulty') return quote;
  const warnings = amountWarnings(read.assumed, encoded.notCompressed, drawnOf(items));
  const { additionalFee } = terms;
  const priced = { kind: 'priced', quote, additionalFee, warnings, rune: runeOf(items) } as const;
  if (!isPlanned) return { ...priced, plan: null };
  const savings = await savingsOf(quote, terms, prices, read, { search, asker, encoding });
  const refused = feeWarnings(terms, await nodePolicy(asker.signal));
  return { ...priced, plan: { savings, refused } };
}

/** Prices the text files that the legacy form's query names. Throws `orders_off`. */
export async function priceTextFiles(
  parts: Pick<PricingParts, 'settings' | keyof Stock>,
  query: Readonly<Record<string, unknown>>,
  asker: Asker,
): Promise<PricedOrder | Faulty> {
  const asked = readPriceQuery(query, parts.settings);
  if (asked.kind === 'faulty') return asked;
  await nextTurn(asker.client);
  const sats = await priceSats(parts, asked.rareSats, asked.terms, asker);
  if (sats.kind === 'faulty') return sats;
  const { terms, rareSatsFee } = sats;
  const own = pricesOf(terms.type, parts.settings, asker);
  const quote = quoted(terms, { ...own, baseFee: asked.baseFee ?? own.baseFee, rareSatsFee });
  if (quote.kind === 'faulty') return quote;
  // no warnings, because the legacy answer has no field for them, and is always computed from sizes
  return { kind: 'priced', quote, additionalFee: terms.additionalFee, warnings: [], rune: null };
}
