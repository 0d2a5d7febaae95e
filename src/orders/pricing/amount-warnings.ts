import type { Assumed } from '#kernel/requests/request-values.ts';

/** A reason why an order may cost another amount than this price. */
export interface AmountWarning {
  readonly code: 'assumed' | 'compress-not-counted' | 'drawn';
  /** A sentence for people. */
  readonly message: string;
}

/**
 * Warnings of a price that cannot be exact, because it uses sizes instead of contents, or does not include brotli.
 * Without warnings, an order with the same body costs exactly the same amount.
 *
 * @param notCompressed number of contents with `compress` that are priced uncompressed
 * @param drawn number of items of a collection that are not known yet
 */
export function amountWarnings(assumed: Assumed, notCompressed: number, drawn = 0): AmountWarning[] {
  const warnings: AmountWarning[] = [];
  const { named, count } = assumed;
  if (count > 0) {
    const more = count === named.length ? '' : ` and ${count - named.length} more`;
    warnings.push({
      code: 'assumed',
      message: `The price does not know ${named.join(', ')}${more}. It uses the sizes that were sent, and usual values. If the real values differ, the order costs another amount.`,
    });
  }
  if (notCompressed > 0) {
    warnings.push({
      code: 'compress-not-counted',
      message: `${notCompressed === 1 ? 'One content is counted uncompressed, because it was' : `${notCompressed} contents are counted uncompressed, because they were`} not sent, or too long to be compressed for a price. If brotli is shorter, the order costs less.`,
    });
  }
  if (drawn > 0) {
    warnings.push({
      code: 'drawn',
      message: `${drawn === 1 ? 'The item is' : `The ${drawn} items are`} drawn when the order is created. The price is for the longest free items, so the order costs at most this amount.`,
    });
  }
  return warnings;
}
