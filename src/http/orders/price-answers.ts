import type { Static } from 'typebox';
import { virtualSize } from '#kernel/bitcoin/transaction-size.ts';
import type { OrderQuote } from '#orders/inscribing/quote-order.ts';
import type { AmountWarning } from '#orders/pricing/amount-warnings.ts';
import type { PricedOrder, PricePlan } from '#orders/pricing/price-order.ts';
import type { AskedRune } from '#tokenpay/inscribing/ask-for-rune.ts';
import { bitcoinToken, displayed } from '#tokenpay/telling/token-order-answer.ts';
import type { legacyAnswer, priceAnswer } from './price.schemas.ts';

type PriceAnswer = Static<typeof priceAnswer>;

/** A price in the form of the answer to GET, which has eight numbers. */
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

/** The answer with the price of an order. It has `warnings` if the order may cost another amount. */
export function priceOf({ quote, additionalFee, warnings, rune }: PricedOrder): PriceAnswer {
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
    ...(rune === null ? {} : { tokenPayCharge: pricedCharges(quote, rune) }),
    ...(warnings.length === 0 ? {} : { warnings: warnings.map((warning) => ({ ...warning })) }),
  };
}

/** The two charges of an order that is paid with a rune in addition to sats. */
const pricedCharges = ({ amount: sats }: Pick<OrderQuote, 'amount'>, { rune, amount }: AskedRune) => ({
  feeCharge: { amount: Number(sats), token: bitcoinToken, protocol: 'bitcoin' as const },
  tokenCharge: { ...displayed(amount, rune.divisibility), token: rune.name, protocol: 'rune' as const },
});

/** The plan of a price. It has the transactions, the warnings, and ways to lower the price. */
export function planOf(
  quote: OrderQuote,
  { savings, refused }: PricePlan,
  amountWarnings: readonly AmountWarning[],
): Pick<PriceAnswer, 'amountPerFile' | 'transactions' | 'warnings' | 'savings'> {
  const warnings = quote.warnings.map((warning) => ({ ...warning }) as { code: string; message: string });
  for (const [code, faults] of Object.entries(refused)) {
    for (const { message } of faults) warnings.push({ code, message });
  }
  warnings.push(...amountWarnings.map((warning) => ({ ...warning })));
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
