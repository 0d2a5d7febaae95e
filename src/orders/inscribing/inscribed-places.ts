import assert from 'node:assert/strict';
import { commitAmounts } from './commit-amounts.ts';
import type { OrderLayout } from './order-layout.ts';
import type { OrderRefusal, OrderTerms } from './order-terms.ts';
import { valueOf } from './plan-amounts.ts';
import { inscriptionOutputs } from './plan-transactions.ts';
import { type FileGroup, pointerOf, type SettledTerms, settleTerms } from './settled-terms.ts';

/** Values of an order's inputs, in sats. The positions of inscriptions depend on them. */
export interface SpentValues {
  readonly payments: readonly { readonly value: bigint }[];
  readonly parents: readonly { readonly value: bigint }[];
}

export interface InscribedPlaces {
  readonly kind: 'places';
  /** Number of sats of the payments before the inscribed sat, for each file in sequence. The numbers ascend. */
  readonly places: readonly number[];
}

/**
 * Positions of an order's inscriptions in the sats of its payments. The payments are spent one after the other, and the
 * positions do not depend on the sequence of the payments. Parents keep their own sats. The values of parents matter
 * only to pointers, because a pointer counts from the first sat of all outputs. Refuses payments that do not pay for
 * the commit (`payment-short`), and parents whose values differ from the values in the pointers
 * (`parent-value-differs`).
 */
export function inscribedPlaces(
  terms: OrderTerms,
  layout: OrderLayout,
  { payments, parents }: SpentValues,
): InscribedPlaces | OrderRefusal {
  assert(terms.inventory === null, 'an order of the inventory inscribes no sats of its payments');
  const settled = settleTerms(terms);
  const commit = layout.paidTo === 'direct' ? null : commitAmounts(terms, layout.reveals, payments);
  if (commit?.kind === 'refused') return commit;
  const places: number[] = [];
  let start = 0n;
  for (const [index, reveal] of layout.reveals.entries()) {
    const outputs = inscriptionOutputs(settled, reveal, { parents });
    if (!Array.isArray(outputs)) return outputs;
    for (let place = 0; place < reveal.count; place++)
      places.push(Number(start + placeIn(settled, reveal, place, valueOf(parents))));
    const { committed, feeInput } = commit?.reveals[index] ?? reveal;
    start += committed + (feeInput ?? 0n);
  }
  return { kind: 'places', places };
}

/** Position of an inscription, counted from the first sat of the output that its reveal spends by leaf. */
function placeIn(terms: SettledTerms, reveal: FileGroup, place: number, parents: bigint): bigint {
  const pointer = pointerOf(terms, reveal, place);
  return pointer === null ? 0n : pointer - parents;
}
