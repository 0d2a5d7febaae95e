import type { Static } from 'typebox';
import { virtualSize } from '#kernel/bitcoin/transaction-size.ts';
import type { OrderQuote } from '#orders/inscribing/quote-order.ts';
import type { PricePlan } from '#orders/pricing/price-order.ts';
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

/** Transactions of a price, warnings, and how it could be lower. */
export function planOf(
  quote: OrderQuote,
  { savings, notCompressed, refused }: PricePlan,
): Pick<PriceAnswer, 'amountPerFile' | 'transactions' | 'warnings' | 'savings'> {
  const warnings = quote.warnings.map((warning) => ({ ...warning }) as { code: string; message: string });
  for (const [code, faults] of Object.entries(refused)) {
    for (const { message } of faults) warnings.push({ code, message });
  }
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
    savings: savings.map((saving) => ({ ...saving })),
  };
}
