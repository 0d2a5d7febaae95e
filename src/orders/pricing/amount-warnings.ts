import type { Assumed } from '#kernel/requests/request-values.ts';

/** The reason why an order may cost another amount than its price says. */
export interface AmountWarning {
  readonly code: 'assumed' | 'compress-not-counted' | 'drawn';
  /** A sentence for people. */
  readonly message: string;
}

/**
 * Warnings of a price that cannot be exact: it knows sizes in place of contents, or leaves brotli out. Without any, the
 * order of the same body costs the very amount.
 *
 * @param notCompressed contents that `compress` asks for and that are counted as they are
 * @param drawn items of a collection that are not known yet
 */
export function amountWarnings(assumed: Assumed, notCompressed: number, drawn = 0): AmountWarning[] {
  const warnings: AmountWarning[] = [];
  const { named, count } = assumed;
  if (count > 0) {
    const more = count === named.length ? '' : ` and ${count - named.length} more`;
    warnings.push({
      code: 'assumed',
      message: `The price does not have ${named.join(', ')}${more}: it counts the sizes that were sent and usual values. The order costs another amount if they differ.`,
    });
  }
  if (notCompressed > 0) {
    warnings.push({
      code: 'compress-not-counted',
      message: `${notCompressed === 1 ? 'One content is counted as it is: it was' : `${notCompressed} contents are counted as they are: they were`} not sent, or too long to be compressed for a price. The order costs less where brotli is shorter.`,
    });
  }
  if (drawn > 0) {
    warnings.push({
      code: 'drawn',
      message: `${drawn === 1 ? 'The item is' : `The ${drawn} items are`} drawn when the order is made: the price is that of the longest that are free, so it is the most that the order costs.`,
    });
  }
  return warnings;
}
