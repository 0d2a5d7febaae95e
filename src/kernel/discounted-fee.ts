import type { Discount, DiscountedFee } from '#kernel/contracts/asking-key.ts';

/**
 * A fee minus its discounts. It is rounded down to a whole number of sats, in the customer's favour, and is at least 0.
 * Pure.
 */
export function discountedFee(fee: bigint, parameter: DiscountedFee, discounts: readonly Discount[]): bigint {
  return discounts
    .filter((one) => one.parameter === parameter)
    .reduce((left, discount) => {
      const rest = lessDiscount(left, discount);
      return rest > 0n ? rest : 0n;
    }, fee);
}

/** A fee minus one discount. Percentages have two decimals. */
const lessDiscount = (fee: bigint, { discount, type }: Discount): bigint =>
  type === 'fixed'
    ? fee - BigInt(Math.ceil(discount))
    : (fee * BigInt(10_000 - Math.round(discount * 100))) / 10_000n;
