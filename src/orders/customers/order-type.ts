import type { OrderKind } from '#orders/order/order-kind.ts';
import type { StoredTerms } from '#orders/order/stored-terms.ts';

/** The type of an order that answers show. */
export type ShownOrderType = OrderKind | 'rune-etch' | 'rune-mint';

export function shownOrderType(
  kind: OrderKind,
  { etching, mint }: Pick<StoredTerms, 'etching' | 'mint'>,
): ShownOrderType {
  if (mint !== undefined) return 'rune-mint';
  return etching === undefined ? kind : 'rune-etch';
}
