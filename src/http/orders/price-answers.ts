import type { Static } from 'typebox';
import { virtualSize } from '#kernel/bitcoin/transaction-size.ts';
import type { OrderTerms } from '#orders/inscribing/order-terms.ts';
import { type OrderPrices, type OrderQuote, quoteOrder } from '#orders/inscribing/quote-order.ts';
import type { legacyAnswer, priceAnswer } from './price.schemas.ts';

type PriceAnswer = Static<typeof priceAnswer>;

/** A price as GET has it: eight numbers. */
export function legacyOf(quote: OrderQuote, additionalFee: bigint): Static<typeof legacyAnswer> {
  const amount = Number(quote.amount);
  return {
    chainFee: Number(quote.chainFee),
    serviceFee: Number(quote.serviceFee),
    baseFee: Number(quote.baseFee),
    rareSatsFee: Number(quote.rareSatsFee),
    additionalFee: Number(additionalFee),
    postage: Number(quote.postage),
    amount,
    totalFee: amount,
  };
}

export function priceOf(quote: OrderQuote, additionalFee: bigint): PriceAnswer {
  return {
    chainFee: Number(quote.chainFee),
    baseFee: Number(quote.baseFee),
    serviceFee: Number(quote.serviceFee),
    sizeFee: Number(quote.sizeFee),
    rareSatsFee: Number(quote.rareSatsFee),
    additionalFee: Number(additionalFee),
    additionalFeeCharged: Number(quote.additionalFeeCharged),
    postage: Number(quote.postage),
    count: quote.count,
    price: Number(quote.price),
    collectionServiceFee: Number(quote.collectionServiceFee),
    discounts: quote.discounts.map((discount) => ({ ...discount })),
    amount: Number(quote.amount),
  };
}

/** What a price consists of, what one should know of it, and how it could be lower. */
export function planOf(
  quote: OrderQuote,
  terms: OrderTerms,
  prices: OrderPrices,
  notCompressed: number,
): Pick<PriceAnswer, 'amountPerFile' | 'transactions' | 'warnings' | 'savings'> {
  const warnings = quote.warnings.map((warning) => ({ ...warning }) as { code: string; message: string });
  if (notCompressed > 0) {
    warnings.push({
      code: 'compress-not-counted',
      message: `${notCompressed} files are counted as they are: their contents were not sent, or are too long to be compressed for a price. The order costs less where brotli is shorter.`,
    });
  }
  return {
    amountPerFile: Math.ceil(Number(quote.amount) / quote.count),
    transactions: quote.transactions.map(({ fee, weight, ...transaction }) => ({
      ...transaction,
      weight,
      vsize: virtualSize(weight),
      fee: Number(fee),
    })),
    warnings,
    savings: savingsOf(quote, terms, prices),
  };
}

function savingsOf(
  quote: OrderQuote,
  terms: OrderTerms,
  prices: OrderPrices,
): { code: string; message: string; sats: number }[] {
  if (terms.batchMode === 'shared-output' || terms.files.length === 1 || terms.uncurse) return [];
  const other = quoteOrder({ ...terms, batchMode: 'shared-output' }, prices);
  if (other.kind === 'refused' || other.amount >= quote.amount) return [];
  return [
    {
      code: 'shared-output',
      message: 'batchMode shared-output puts all inscriptions into one output, a postage apart.',
      sats: Number(quote.amount - other.amount),
    },
  ];
}
