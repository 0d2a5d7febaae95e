import {
  type Discount,
  type DiscountedFee,
  discountedFees,
  type KeyTerms,
  usualTerms,
} from '#kernel/contracts/asking-key.ts';

/** Maximum fee, in sats: one bitcoin. A larger fee must be a mistake. The database has the same bound. */
export const feeMax = 100_000_000;
/** Maximum number of outputs of an inventory. ORDER_RESERVED_MAX has the same bound. */
export const reservedMaxMost = 2000;

/** The columns that store the discount of a fee: one in sats, the other in percent. At most one of them is set. */
const columnsOf: Readonly<Record<DiscountedFee, { readonly fixed: string; readonly percentage: string }>> = {
  baseFee: { fixed: 'base_fee_off', percentage: 'base_fee_percent_off' },
  rareSatsFee: { fixed: 'rare_sats_fee_off', percentage: 'rare_sats_fee_percent_off' },
  collectionServiceFee: {
    fixed: 'collection_service_fee_off',
    percentage: 'collection_service_fee_percent_off',
  },
};
const discountColumns = discountedFees.flatMap((parameter) =>
  (['fixed', 'percentage'] as const).map((type) => ({ parameter, type, column: columnsOf[parameter][type] })),
);

/** The columns of `service.keys` that store the terms of a key. */
export const storedColumns = [
  'base_fee',
  'direct_base_fee',
  'reserved_max',
  ...discountColumns.map(({ column }) => column),
] as const;

/** The terms of a key as the database stores them. */
export interface StoredTerms {
  readonly baseFee: number | null;
  readonly directBaseFee: number | null;
  readonly reservedMax: number | null;
  /** Discounts, in the order of `discountColumns`. */
  readonly discounts: readonly (number | null)[];
}

/** SQL columns that are read as `StoredTerms`. */
export const termsColumns = `base_fee AS "baseFee", direct_base_fee AS "directBaseFee",
  reserved_max AS "reservedMax", ARRAY[${discountColumns.map(({ column }) => `${column}::float8`).join(', ')}] AS discounts`;

/** Returns the terms of a key. Keys without terms of their own share one object, because 20,000 keys are remembered. */
export function termsOf({ baseFee, directBaseFee, reservedMax, discounts }: StoredTerms): KeyTerms {
  const given = discountColumns.flatMap(({ parameter, type }, place): Discount[] => {
    const discount = discounts[place] ?? null;
    return discount === null ? [] : [{ discount, parameter, type }];
  });
  const isUsual = given.length === 0 && (baseFee ?? directBaseFee ?? reservedMax) === null;
  return isUsual ? usualTerms : { baseFee, directBaseFee, discounts: given, reservedMax };
}

/** The values for `storedColumns`, in the same order. */
export function valuesOf({ baseFee, directBaseFee, reservedMax, discounts }: KeyTerms): (number | null)[] {
  const off = discountColumns.map(
    ({ parameter, type }) =>
      discounts.find((given) => given.parameter === parameter && given.type === type)?.discount ?? null,
  );
  return [baseFee, directBaseFee, reservedMax, ...off];
}

/** The discounts in a text, or the reason why the text has none. The reason is worded to follow `--discount`. */
export type ReadDiscounts =
  | { readonly kind: 'read'; readonly discounts: readonly Discount[] }
  | { readonly kind: 'refused'; readonly reason: string };

const discountPattern = /^(?<parameter>[A-Za-z]+):(?<number>\d{1,9}(?:\.\d{1,2})?)(?<percent>%?)$/u;

/** Parses `baseFee:500,rareSatsFee:12.5%`: whole sats, or a percentage with at most two decimals. */
export function parseDiscounts(text: string): ReadDiscounts {
  const read = new Map<DiscountedFee, Discount>();
  for (const part of text.split(',').map((each) => each.trim())) {
    const discount = parseDiscount(part);
    if (discount === null) return { kind: 'refused', reason: `${part}: ${discountForm}` };
    const { parameter } = discount;
    if (read.has(parameter))
      return {
        kind: 'refused',
        reason: `${part} cannot be added, because ${parameter} already has another discount`,
      };
    read.set(parameter, discount);
  }
  const discounts = discountedFees.flatMap((parameter) => read.get(parameter) ?? []);
  return { kind: 'read', discounts };
}

/** The required form of a discount, for messages. */
const discountForm = `a discount is FEE:SATS or FEE:PERCENT%; FEE is one of ${discountedFees.join(', ')}, SATS is a whole number from 1 to ${feeMax}, PERCENT is from 0.01 to 100 with at most two decimals`;

function parseDiscount(text: string): Discount | null {
  const groups = discountPattern.exec(text)?.groups;
  const parameter = discountedFees.find((fee) => fee === groups?.['parameter']);
  if (groups === undefined || parameter === undefined) return null;
  const discount = Number(groups['number']);
  if (groups['percent'] === '%')
    return discount > 0 && discount <= 100 ? { discount, parameter, type: 'percentage' } : null;
  const isFixed = Number.isInteger(discount) && discount >= 1 && discount <= feeMax;
  return isFixed ? { discount, parameter, type: 'fixed' } : null;
}

/** The terms of a key in words, for a line of a list. `null` if the key has no terms of its own. */
export function termsInWords({ baseFee, directBaseFee, discounts, reservedMax }: KeyTerms): string | null {
  const words = [
    ...(baseFee === null ? [] : [`base fee ${baseFee}`]),
    ...(directBaseFee === null ? [] : [`base fee of direct orders ${directBaseFee}`]),
    ...discounts.map(
      ({ discount, parameter, type }) => `${parameter} less ${discount}${type === 'fixed' ? ' sats' : ' %'}`,
    ),
    ...(reservedMax === null ? [] : [`reserved sats of the inventory ${reservedMax}`]),
  ];
  return words.length === 0 ? null : words.join(', ');
}
