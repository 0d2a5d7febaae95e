import type { OrderQuote } from '#orders/inscribing/quote-order.ts';
import type { PriceSettings } from '#orders/pricing/prices.ts';

/** Sats of the base fee that the referral of an order gets: once an order, rounded in favour of the service. */
export const referralFee = (
  { baseFee }: Pick<OrderQuote, 'baseFee'>,
  { referralPercent }: Pick<PriceSettings, 'referralPercent'>,
): number => Number((baseFee * BigInt(referralPercent)) / 100n);
